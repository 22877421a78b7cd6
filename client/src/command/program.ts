import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { type ConnectOptions, connect, signIn } from '../index.ts'
import { nodeFetch } from '../node.ts'
import { askLine, askSecret, isTerminal } from './ask.ts'
import { completionOf, type Shell, shells } from './completion.ts'
import { exitStatus, Interrupted, report, UsageError } from './failure.ts'
import { escapeControls, refusalOf } from './format-text.ts'
import { get } from './get.ts'
import { identities } from './identity.ts'
import { OutputLost, writeOut } from './output.ts'
import { createOwnRequests } from './own-requests.ts'
import { checkedUrl, connectAs, loginFile, type Where, writeLogin } from './settings.ts'
import * as single from './single.ts'
import { type SyncFlags, synchronise, watch } from './synchronise.ts'

declare const siteFilesVersion: string | undefined
const version = typeof siteFilesVersion === 'string' ? siteFilesVersion : '0.0.0'

interface Globals extends Where {
  readonly json?: true
}

const parseSite = (text: string): number => {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It must be the number of a site.')
  return Number(text)
}

const all = ['--all', 'include ignored files, such as .git'] as const

const syncOptions = (command: Command): Command =>
  command
    .option(...all)
    .option('--delete', 'also remove files that the source does not have, after a confirmation')
    .option('--force', 'overwrite files that changed on the target')
    .option('--yes', 'remove without a confirmation')

const collect = (path: string, earlier: readonly string[] = []): readonly string[] => [...earlier, path]

const choiceOptions = (command: Command): Command =>
  command
    .addOption(new Option('--mine <path>', 'in a conflict, keep the local file (repeatable)').argParser(collect))
    .addOption(
      new Option('--theirs <path>', 'in a conflict, keep the file of the site (repeatable)').argParser(collect),
    )

interface LoginFlags {
  readonly user?: string
}

/**
 * Returns the name of the person, or an empty text for a sign-in with a token. Without a terminal, the command cannot
 * ask.
 */
const askName = ({ user }: LoginFlags, signal: AbortSignal): Promise<string> | string => {
  if (user === '') throw new UsageError('Name a person after --user, or leave out --user to use a token.')
  return user ?? (isTerminal() ? askLine('Name (press Enter to use a token instead): ', signal) : '')
}

const tokenFor = async (url: string, username: string, signal: AbortSignal): Promise<string> => {
  const secret = await askSecret(username ? 'Password (not shown): ' : 'Token (not shown): ', signal)
  if (!secret.trim()) throw new UsageError(`No ${username ? 'password' : 'token'} was entered, so nothing was saved.`)
  return username ? signIn({ url, username, password: secret, signal, fetch: nodeFetch }) : secret.trim()
}

const login = async ({ url, site }: Globals, flags: LoginFlags, signal: AbortSignal): Promise<void> => {
  const given =
    url ?? (process.env['SITE_ADMIN_URL'] || (isTerminal() && (await askLine('Address of the service: ', signal))))
  if (!given) throw new UsageError('Name the service with --url https://admin.example.com.')
  const address = checkedUrl(given)
  const token = await tokenFor(address, await askName(flags, signal), signal)
  const choice = site === undefined ? {} : { site }
  const client = await connect({ url: address, token, signal, fetch: nodeFetch, ...choice })
  await writeLogin({ url: address, token, ...choice })
  console.error(
    escapeControls(
      `Site ${client.site.id} (${client.site.name}). Saved the token in ${loginFile()}. Only you can read it.`,
    ),
  )
}

type AddCommand = (usage: string, description: string, ...examples: readonly string[]) => Command
type OpenContext = (more?: Pick<ConnectOptions, 'patience'>) => Promise<single.Context>

const addTransfers = (add: AddCommand, context: OpenContext): void => {
  add('ls [path]', 'list a folder', 'ls -l news', 'ls -R')
    .option('-R, --recursive', 'list every file below the folder')
    .option('-l, --long', 'show time and size')
    .action(async (path = '', options = {}) => single.ls(await context(), path, options))
  add('cat <path>', 'print a file', 'cat news/index.html').action(async (path: string) =>
    single.cat(await context(), path),
  )
  add(
    'get <path> [file]',
    'fetch a file, or a folder as one zip file',
    'get images/logo.png',
    'get images/logo.png /tmp/logo.png --force',
    'get news news.zip',
  )
    .option('--force', 'replace an existing file')
    .action(async (path: string, file: string | undefined, options) => get(await context(), path, file, options))
  add(
    'put <file-and-path...>',
    'upload files to the path in the last argument, and replace existing ones',
    'put index.html news/',
    'put logo.png images/logo-2026.png',
  )
    .usage('[options] <file...> <path>')
    .action(async (given: string[]) => {
      const path = given.at(-1)
      if (path === undefined || given.length < 2)
        throw new UsageError('Name a file and a path: site-files put index.html news/')
      await single.put(await context(), given.slice(0, -1), path)
    })
  add(
    'mv <from> <to>',
    'move or rename a file or folder',
    'mv news/draft.html news/final.html',
    'mv old-news archive/',
  ).action(async (from: string, to: string) => single.move(await context(), from, to))
  add('cp <from> <to>', 'copy a file or folder', 'cp news/2025 news/2026').action(async (from: string, to: string) =>
    single.copy(await context(), from, to),
  )
}

const addRemovals = (add: AddCommand, context: OpenContext): void => {
  add(
    'rm <path...>',
    'remove files, or folders with everything in them',
    'rm news/old.html',
    'rm --dry-run archive',
    'rm --yes archive',
  )
    .option('--dry-run', 'list what would be removed, and remove nothing')
    .option('--yes', 'remove folders without a confirmation')
    .action(async (paths: string[], options) => single.remove(await context(), paths, options))
  add(
    'restore <path>',
    'restore a removed file or folder, or an earlier version of a file',
    'restore news/old.html',
    'restore news/index.html --state VERSION --replace',
  )
    .option('--state <version>', 'the version to restore, as printed by "versions"')
    .option('--replace', 'replace an existing file')
    .action(async (path: string, options) => single.restore(await context(), path, options))
  add(
    'purge <path>',
    'delete the old versions of a file for good, and keep the file',
    'purge news/index.html',
    'purge news/index.html --state VERSION --yes',
  )
    .option('--state <version>', 'only this version, as printed by "versions"')
    .option('--yes', 'purge without a confirmation')
    .action(async (path: string, options) => single.purge(await context(), path, options))
  add('versions <path>', 'list the versions of a file', 'versions news/index.html').action(async (path: string) =>
    single.versions(await context(), path),
  )
}

const addSynchronisation = (add: AddCommand, context: OpenContext, finish: (status: number) => void): void => {
  // A restart of the service takes longer than the patience of one call.
  const open = () => context({ patience: { attempts: 8 } })
  add('diff <dir> [path]', 'list what "push" would do', 'diff ./site', 'diff ./site news --delete')
    .option(...all)
    .option('--delete', 'include removals')
    .option('--force', 'list what "push --force" would do')
    .option('--content', 'show the lines that differ: - on the site, + here')
    .action(async (directory: string, path: string | undefined, flags: SyncFlags) =>
      finish(await synchronise('push', await open(), directory, path ?? '', { ...flags, dryRun: true })),
    )
  choiceOptions(
    syncOptions(
      add(
        'push <dir> [path]',
        'upload the files of a local folder that differ from the site',
        'push ./site',
        'push ./site news --delete --dry-run',
      ),
    ),
  )
    .option('--dry-run', 'list what would be done, and change nothing')
    .action(async (directory: string, path: string | undefined, flags: SyncFlags) =>
      finish(await synchronise('push', await open(), directory, path ?? '', flags)),
    )
  choiceOptions(
    syncOptions(
      add(
        'pull <path-or-dir> [dir]',
        'download the files of the site that differ from a local folder',
        'pull ./site',
        'pull news ./site/news',
      ),
    ),
  )
    .option('--dry-run', 'list what would be done, and change nothing')
    .action(async (first: string, second: string | undefined, flags: SyncFlags) =>
      finish(await synchronise('pull', await open(), second ?? first, second === undefined ? '' : first, flags)),
    )
  syncOptions(add('watch <dir> [path]', 'push now and after every change, until Ctrl+C', 'watch ./site')).action(
    async (directory: string, path: string | undefined, flags: SyncFlags) =>
      finish(await watch(await open(), directory, path ?? '', flags)),
  )
}

// Commander puts its suggestion on a new line. Line breaks inside the user's arguments stay.
const joinLines = (text: string): string => text.trimEnd().replace(/\n(?=\(Did you mean [\w ,-]+\?\)$)/, ' ')

/** A command with several exit statuses calls `finish` with its status. */
const createProgram = (signal: AbortSignal, finish: (status: number) => void, isJson: boolean): Command => {
  const program = new Command('site-files')
    .description('Lists, uploads, downloads and synchronises the files of a site.')
    .version(version)
    .addOption(
      new Option('--url <url>', 'the address of the service (or SITE_ADMIN_URL, or "login")').argParser(checkedUrl),
    )
    .option('--token-file <file>', 'a file with the token (or SITE_ADMIN_TOKEN, or "login")')
    .addOption(
      new Option('--identity <name>', 'use the identity of this GitHub Actions job instead of a token')
        .choices(identities)
        .conflicts('tokenFile'),
    )
    .addOption(new Option('--site <id>', 'the site, if the token covers several').argParser(parseSite))
    .option('--json', 'print JSON: one value per line')

  const context: OpenContext = async (more) => {
    const { json = false, ...where } = program.opts<Globals>()
    const own = createOwnRequests(nodeFetch)
    const client = await connectAs(where, { signal, fetch: own.fetch, ...more })
    return { client, json, signal, isOwn: own.has }
  }
  const add: AddCommand = (usage, description, ...examples) =>
    program
      .command(usage)
      .description(description)
      .addHelpText('after', `\nExample:\n${examples.map((each) => `  $ site-files ${each}`).join('\n')}`)

  addTransfers(add, context)
  addRemovals(add, context)
  addSynchronisation(add, context, finish)
  add(
    'login',
    'ask for name and password, or for a token, and save the token for later commands',
    '--url https://admin.example.com login',
    '--url https://admin.example.com login --user ann < password-file',
  )
    .option('--user <name>', 'your name; the command then asks only for the password')
    .action((flags: LoginFlags) => login(program.opts<Globals>(), flags, signal))
  add(
    'completion',
    'print a completion script for a shell; for bash, add "source <(site-files completion bash)" to ~/.bashrc',
    'completion bash',
    'completion zsh',
  )
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => void writeOut(`${completionOf(program, shell)}\n`))

  const refuse = (text: string) => console.error(refusalOf(joinLines(text), isJson))
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .configureHelp({ showGlobalOptions: true })
      .configureOutput({
        writeOut: (text) => void writeOut(text),
        ...(isJson && { writeErr: () => refuse('Name a command: --help lists them.') }),
        outputError: refuse,
      })
      .showHelpAfterError(isJson ? false : 'Add --help to see the usage.')
  }
  return program
}

/** These commands only print, so a closed pipe ("| head") is not a failure. */
const printOnlyCommands = new Set(['ls', 'cat', 'versions', 'diff', 'completion', undefined])

export const run = async (args: readonly string[]): Promise<number> => {
  const stopping = new AbortController()
  const stop = () => stopping.abort(new Interrupted())
  const lose = (error: Error) => stopping.abort(new OutputLost(error))
  // A second Ctrl+C ends the process at once. A terminal that closes may send SIGHUP twice.
  process.once('SIGINT', stop).once('SIGTERM', stop).on('SIGHUP', stop)
  process.stdout.on('error', lose)
  let status: number = exitStatus.done
  const isJson = args.includes('--json')
  const finish = (ended: number) => {
    status = ended
  }
  const program = createProgram(stopping.signal, finish, isJson)
  const outcome = await program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop)
  process.stdout.off('error', lose)
  const { aborted, reason } = stopping.signal
  if (reason instanceof OutputLost) {
    const isEnough =
      reason.isReaderClosed && (printOnlyCommands.has(program.args[0]) || (!outcome && status === exitStatus.done))
    return isEnough ? exitStatus.done : report(reason, isJson)
  }
  return outcome ? report(aborted ? reason : outcome.error, isJson) : status
}
