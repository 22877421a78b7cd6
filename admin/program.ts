import { Command, CommanderError, Option } from 'commander'
import { errors, ServiceError } from '../lib/errors.ts'
import { SettingsError } from '../lib/settings.ts'
import { UsageError } from '../local/usage-error.ts'
import packageFile from '../package.json' with { type: 'json' }
import { auditCommand } from './commands/audit.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { checkCommand } from './commands/check.ts'
import { completionCommand } from './commands/completion.ts'
import { categoryCommand, formCommand, objectCommand } from './commands/contents.ts'
import { importCommand } from './commands/import.ts'
import { serveCommand } from './commands/serve.ts'
import { dataCentreCommand, siteCommand } from './commands/site.ts'
import { tokenCommand } from './commands/token.ts'
import { workflowCommand } from './commands/workflow.ts'
import { examples } from './examples.ts'
import { FaultsFound, Refusal } from './output.ts'

const exitStatus = { done: 0, refused: 1, wrongUsage: 2 } as const

/** Every command, with what it takes. */
export const createProgram = (): Command => {
  const program = new Command('site-admin')
    .description('Administers the sites, tokens and contents of a site-admin service.')
    .addOption(new Option('--target <target>', 'what it works on').choices(['local', 'aws']).default('local'))
    .option('--data-dir <path>', 'local: the data directory of "npm start", running or not', '.local')
    .option('--stack-prefix <prefix>', 'aws: what the names of the stacks begin with', 'SiteAdmin')
    .option('--json', 'print one JSON value', false)
    .version(packageFile.version, '--version', 'print the version')
  const commands = [
    dataCentreCommand(),
    siteCommand(),
    tokenCommand(),
    formCommand(),
    categoryCommand(),
    objectCommand(),
    workflowCommand(),
    importCommand(),
    auditCommand(),
    serveCommand(),
    backupCommand(),
    restoreCommand(),
    checkCommand(),
    completionCommand(program),
  ]
  for (const command of commands) program.addCommand(command)
  const configure = (command: Command, words: readonly string[]): void => {
    command.exitOverride().showHelpAfterError('Add --help to see what it takes.')
    const example = examples[words.join(' ')]
    if (example !== undefined) command.addHelpText('after', `\nExample:\n  ${program.name()} ${example}`)
    for (const child of command.commands) configure(child, [...words, child.name()])
  }
  configure(program, [])
  return program
}

/** What AWS says of credentials that are missing, wrong or expired, or that do not go far enough. */
const rightsErrors: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'AccessDenied',
  'AccessDeniedException',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
])

/** Errors whose message says what to do. */
const inWords = [Refusal, UsageError, SettingsError, ServiceError] as const

/** What a person can do about a failure of a command, in a sentence; undefined when it is nothing that they can put right. */
const adviceOn = (error: unknown): string | undefined => {
  if (error instanceof ServiceError && error.code === errors.unavailable.code) {
    return 'The store is away or busy. Repeat the command; repeating is safe.'
  }
  if (inWords.some((kind) => error instanceof kind)) return error instanceof Error ? error.message : String(error)
  if (!(error instanceof Error && rightsErrors.has(error.name))) return undefined
  return `AWS does not let you: ${error.message.replace(/\.$/, '')}. Check your credentials, and what they are allowed to do.`
}

/** Runs one command line and answers its exit status: 0, 1 (refused, with a sentence that says what to do) or 2 (wrong usage). */
export const run = async (args: readonly string[]): Promise<number> => {
  try {
    await createProgram().parseAsync(args, { from: 'user' })
    return exitStatus.done
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.wrongUsage
    if (error instanceof FaultsFound) return exitStatus.refused
    const advice = adviceOn(error)
    if (advice === undefined) throw error
    console.error(advice)
    return exitStatus.refused
  }
}
