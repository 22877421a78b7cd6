import { run } from './program.ts'

// Whoever reads the output may have had enough of it ("| head").
for (const output of [process.stdout, process.stderr]) output.on('error', () => process.exit(0))
process.exitCode = await run(process.argv.slice(2))
