import { run } from './program.ts'

// What is lost while a command runs is its own affair. Afterwards, and of errors, there is nobody left to tell.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
void run(process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
