import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

/**
 * `npm run acceptance -- --base-url URL --token T [--admin "<command>"] [--largest-file BYTES]` runs the black-box
 * suite against any deployment.
 */
const usage =
  'Usage: npm run acceptance -- --base-url URL --token TOKEN [--admin "<administration command>"] [--largest-file ' +
  'BYTES]'

const readArguments = () => {
  try {
    const { values } = parseArgs({
      options: {
        'base-url': { type: 'string' },
        token: { type: 'string' },
        admin: { type: 'string' },
        'largest-file': { type: 'string' },
      },
    })
    return values
  } catch {
    return {}
  }
}

const { 'base-url': baseUrl, token, admin, 'largest-file': largestFile = '' } = readArguments()
if (!baseUrl || !token || !/^\d*$/.test(largestFile)) {
  console.error(usage)
  process.exit(2)
}
if (!admin) console.warn('No --admin COMMAND: cases that need a second site, another token or an import are SKIPPED.')
if (!largestFile) console.warn('No --largest-file BYTES: cases that exceed it are SKIPPED.')
// Without the administration tool, all cases use the forms of one site. So the test files run one after the other.
const sequential = admin ? [] : ['--no-file-parallelism']
spawn('vitest', ['run', '--project', 'acceptance', ...sequential], {
  stdio: 'inherit',
  env: {
    ...process.env,
    ACCEPTANCE_BASE_URL: baseUrl,
    ACCEPTANCE_TOKEN: token,
    ACCEPTANCE_ADMIN: admin ?? '',
    ACCEPTANCE_LARGEST_FILE: largestFile,
  },
}).on('exit', (status) => {
  process.exitCode = status ?? 1
})
