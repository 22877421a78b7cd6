import { Argument, Command, CommanderError, Option } from 'commander'
import { completionOf, type Shell, shells } from '../client/src/command/completion.ts'
import { refusalOf } from '../client/src/command/format-text.ts'
import { addServiceOptions, flagsOf, parseText, printableErrors, type RawFlags } from '../local/flags.ts'
import { logInJson } from '../local/request-log.ts'
import packageFile from '../package.json' with { type: 'json' }
import { auditCommand } from './commands/audit.ts'
import { backupCommand, checkCommand, restoreCommand } from './commands/backup.ts'
import { categoryCommand, objectCommand } from './commands/content.ts'
import { exportCommand } from './commands/export.ts'
import { formCommand } from './commands/form.ts'
import { importCommand } from './commands/import.ts'
import { issuerCommand, roleCommand, ruleCommand } from './commands/issuer.ts'
import { dataCentreCommand, siteCommand } from './commands/site.ts'
import { keyCommand, tokenCommand } from './commands/token.ts'
import { userCommand } from './commands/user.ts'
import { webhookCommand } from './commands/webhook.ts'
import { workflowCommand } from './commands/workflow.ts'
import { adviceOn, type GlobalOptions } from './stores/stores.ts'
import { commandOf, parseRegion } from './terminal/arguments.ts'
import { FaultsFound, printText, Refusal } from './terminal/output.ts'

const serveDescription = 'one machine: serve the data directory, and create it if it does not exist'
const serveExample = '--data-dir /var/lib/site-admin --base-url https://sites.example'

// Does the same as `npm start`. The server is loaded on demand, because other commands need little of it.
const serveCommand = (): Command =>
  addServiceOptions(commandOf('serve', serveDescription, serveExample)).action(
    async (_options: object, self: Command) => {
      const { target, stackPrefix: _, ...flags } = self.optsWithGlobals<GlobalOptions & RawFlags>()
      if (target !== 'local') throw new Refusal('"serve" works only on one machine. Leave out --target.')
      const { serve } = await import('../local/start.ts')
      await serve(flagsOf(flags), 'site-admin')
    },
  )

const completionDescription =
  'print a completion script for a shell; for bash, add "source <(site-admin completion bash)" to ~/.bashrc'

const completionCommand = (program: Command): Command =>
  commandOf('completion', completionDescription, 'bash', 'zsh')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => printText(completionOf(program, shell)))

/** `sayHelp` receives the output of `--help` and `--version`. */
export const createProgram = (sayHelp = (text: string): unknown => process.stdout.write(text), isJson = false) => {
  const program = new Command('site-admin')
    .description('Administers the sites, tokens and contents of a site-admin service.')
    .addOption(new Option('--target <target>', 'the kind of installation').choices(['local', 'aws']).default('local'))
    .option(
      '--data-dir <path>',
      'local: the data directory of "serve" or "npm start"; the service may be running',
      parseText,
      '.local',
    )
    .option('--stack-prefix <prefix>', 'aws: the prefix of the stack names', 'SiteAdmin')
    .option(
      '--directory-region <region>',
      'aws: read the directory from its copy in this region, if its home region is down',
      parseRegion,
    )
    .option('--json', 'print the result as one JSON value', false)
    .version(packageFile.version, '--version', 'print the version')
  for (const command of [
    dataCentreCommand(),
    siteCommand(),
    tokenCommand(),
    userCommand(),
    keyCommand(),
    webhookCommand(),
    roleCommand(),
    issuerCommand(),
    ruleCommand(),
    formCommand(),
    categoryCommand(),
    objectCommand(),
    workflowCommand(),
    importCommand(),
    exportCommand(),
    auditCommand(),
    serveCommand(),
    backupCommand(),
    restoreCommand(),
    checkCommand(),
    completionCommand(program),
  ])
    program.addCommand(command)
  const configure = (command: Command): void => {
    const outputError = (text: string) => console.error(refusalOf(text.trim().replace('\n(Did', ' (Did'), true))
    const writeErr = (text: string) => text.startsWith('Usage:') && outputError('Name a command: --help lists them.')
    command.configureOutput({ ...printableErrors, writeOut: sayHelp, ...(isJson && { outputError, writeErr }) })
    command.exitOverride().configureHelp({ showGlobalOptions: true })
    command.showHelpAfterError(isJson ? false : 'Add --help to see the usage.')
    for (const child of command.commands) configure(child)
  }
  configure(program)
  return program
}

// Throws CommanderError for wrong usage, and the errors of the commands.
const carryOut = async (args: readonly string[], isJson: boolean): Promise<void> => {
  const help: string[] = []
  try {
    await createProgram((text) => help.push(text), isJson).parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError && error.exitCode === 0)) throw error
    // Commander would not wait for the output, and would not notice that the output is lost.
    await printText(help.join('').replace(/\n$/, ''))
  }
}

/**
 * Runs one command line. Returns its exit status: 0, 1 (refused, with a message that names the next step) or 2 (wrong
 * usage).
 */
export const run = async (args: readonly string[]): Promise<number> => {
  const isLog = args.includes('serve') && logInJson()
  const isJson = args.includes('--json') && !isLog
  try {
    await carryOut(args, isJson)
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return 2
    if (error instanceof FaultsFound) return 1
    const advice = adviceOn(error)
    if (advice === undefined) throw error
    console.error(refusalOf(advice, isJson, Object(error).cause ?? error))
    return 1
  }
}
