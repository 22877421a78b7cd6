import { join, relative } from 'node:path'
import { BaseSequencer, createVitest, type TestModule } from 'vitest/node'
import type { Outcome, TestRun } from './run-tests.ts'

// Runs the tests of a TestRun, and sends outcomes to the parent process. The last outcome counts.

class InGivenOrder extends BaseSequencer {
  override async sort<Files>(files: Files): Promise<Files> {
    return files
  }
}

const { tests, isRecording = false }: TestRun = JSON.parse(String(process.env['TEST_RUN']))

const outcomeOf = (failed: TestModule | undefined): Outcome => ({
  failed: failed ? { project: failed.project.name, test: relative('', failed.moduleId) } : null,
})

/** A test that has started has failed until it ends, because a change may end the process or keep it busy forever. */
let started: TestModule | undefined
const onTestModuleQueued = (module: TestModule) => {
  started = module
  process.send?.(outcomeOf(module))
}

const isLong = tests.some(({ project }) => project === 'long')
// A change often makes a case wait forever, so the time limit of quick tests is shorter than usual.
const untilFirstFailure = { bail: 1, maxWorkers: 1, ...(isLong ? {} : { testTimeout: 10_000 }) }
const vitest = await createVitest('test', {
  watch: false,
  reporters: [{ onTestModuleQueued }],
  sequence: { sequencer: InGivenOrder },
  ...(isRecording ? {} : untilFirstFailure),
})
for (const { config } of isRecording ? vitest.projects : []) config.runner = join(import.meta.dirname, 'recorder.ts')

const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
  tests.map(({ project, test }) =>
    vitest.getProjectByName(project).createSpecification(join(vitest.config.root, test)),
  ),
)
const failed = testModules.find((module) => module.state() === 'failed')
const origins = unhandledErrors.map((error) => (error as { VITEST_TEST_PATH?: string }).VITEST_TEST_PATH)
const origin = testModules.find(({ moduleId }) => origins.includes(moduleId)) ?? started
process.send?.(outcomeOf(failed ?? (unhandledErrors.length > 0 ? origin : undefined)))
await vitest.close()
process.exit()
