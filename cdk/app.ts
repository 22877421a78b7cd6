import { bundleFunctions } from './bundles.ts'
import { createApp } from './create-app.ts'
import { checkFindings } from './findings.ts'

checkFindings(createApp(await bundleFunctions()))
