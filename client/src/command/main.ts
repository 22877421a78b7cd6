import { run } from './program.ts'

// Whoever reads the output may have had enough of it ("| head").
process.stdout.on('error', () => process.exit(0))
process.exitCode = await run(process.argv.slice(2))
