import { bundleFunctions } from './bundles.ts'
import { checkFindings, createApp } from './create-app.ts'

checkFindings(createApp(await bundleFunctions()))
