/** The settings from the introduction of the generator. Module names end in `.ts`, so that Node runs them directly. */
export default { input: './openapi.json', output: { path: './client', module: { extension: '.ts' } } }
