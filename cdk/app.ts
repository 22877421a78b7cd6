import { App } from 'aws-cdk-lib'
import { bundleFunctions } from './config/functions.ts'
import { readSettings } from './config/settings.ts'
import { runScript } from './run-script.ts'
import { createApp } from './stacks/create-app.ts'

// A wrong setting needs no stack trace, and is reported before the functions are bundled.
process.exitCode = await runScript('', {}, async () => {
  readSettings(new App({ autoSynth: false }).node)
  return 0
})
if (process.exitCode === 0) createApp(await bundleFunctions())
