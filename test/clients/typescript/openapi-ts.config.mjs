/** The settings of the generator's introduction. Module names end in `.ts`, so that Node runs them directly. */
export default {
  input: './openapi.json',
  output: { path: './client', module: { extension: '.ts' } },
}
