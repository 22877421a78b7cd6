import { bundleFunctions } from './config/functions.ts'
import { createApp } from './stacks/create-app.ts'

createApp(await bundleFunctions())
