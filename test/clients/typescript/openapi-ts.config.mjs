/** The client as whoever follows the generator's introduction has it; names of modules end in `.ts`, so that Node runs it as it is. */
export default {
  input: './openapi.json',
  output: { path: './client', module: { extension: '.ts' } },
}
