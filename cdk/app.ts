import { bundleFunctions } from './config/bundles.ts'
import { checkFindings, createApp } from './stacks/create-app.ts'

checkFindings(createApp(await bundleFunctions()))
