import { bundleFunctions } from './config/functions.ts'
import { checkFindings, createApp } from './stacks/create-app.ts'

checkFindings(createApp(await bundleFunctions()))
