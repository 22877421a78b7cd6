import { run } from './program.ts'

// Whoever reads the output may have had enough of it ("| head").
for (const output of [process.stdout, process.stderr]) output.on('error', () => process.exit(0))
void run(process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
