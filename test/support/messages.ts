/** `…` matches any text, `^` the beginning and `$` the end of a message. */
export const phrase = (parts: TemplateStringsArray, ...facts: readonly unknown[]): RegExp => {
  const words = String.raw({ raw: parts }, ...facts)
  const escaped = words.replaceAll(/(?!^)\^|\$(?!$)|[\\.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*')
  return new RegExp(escaped.replace(/\$$/, '\\n?$'))
}

const actions = [
  ...['Ask', 'Change', 'Check', 'Choose', 'Copy', 'Create', 'Delete', 'Empty', 'End', 'Free', 'Give', 'List'],
  ...['Move', 'Name', 'Put', 'Read', 'Remove', 'Repeat', 'Report', 'Send', 'Split', 'Use'],
]

/** The messages of the service and its tools that several tests expect, by name. */
export const messages = {
  aws: {
    noAnswer: (place: string, advice = ' If the home region … --directory-region.') =>
      phrase`^The store is busy or does not answer. … repeating is safe.${advice} (Stacks: SiteAdmin-… at ${place})$`,
    noCredentials: (place: string) =>
      phrase`^AWS refuses this: …credentials…. Check your credentials…. (Stacks: SiteAdmin-… at ${place})$`,
    noRegion: (place: string) =>
      phrase`^No valid region is set. Set AWS_REGION to the home region of the directory, such as us-east-1. (Stacks: SiteAdmin-… at ${place})$`,
    noTables: (prefix: string, region: string) =>
      phrase`^This region lacks a table of the service. …docs/recovery.md… --directory-region, … (Stacks: ${prefix}-… at …, ${region})$`,
    noUrl: (place: string) =>
      phrase`^AWS_ENDPOINT_URL is not a URL. Set it to …, or leave it out. (Stacks: SiteAdmin-… at ${place})$`,
    refused: (why: string) => phrase`^AWS refuses this: ${why}. Check your credentials and their permissions. (…)$`,
  },
  backup: {
    link: 'is a symbolic link',
    databaseDamaged: (file: string) =>
      phrase`^The database ${file} is damaged and cannot be backed up: … "site-admin check" lists … "site-admin restore". No backup was made.$`,
    fault: (what: string) => phrase`is damaged: …${what}`,
    fileDamaged: (what: string) => phrase`^A file or row is damaged: …, ${what}. …$`,
    inside: (what: string) => phrase`^The directory … is inside the ${what} …. Choose a directory outside it`,
    missing: (name: string) => phrase`^There is no backup …${name}. Name another`,
    onlyOneMachine: 'Leave out --target. For a deployment on AWS, read docs/recovery.md.',
    notAFolder: phrase`is not a folder. Name a folder that does not`,
    otherTables: (tables: number) =>
      phrase`is of another version. …tables of version ${tables}, … Use the … Nothing was changed.$`,
    restoreFull: phrase`^The disk is full. … The directory is still empty.$`,
    restoreFullAgain: phrase`^The disk is full. … No service starts until a restore succeeds.$`,
    restoreInterrupted: phrase`A restore into the data directory … was interrupted`,
    some: (count: number, what: string) =>
      phrase`is damaged: ${count} of its files or rows are damaged, such as …: ${what}. … Nothing was changed`,
    targetFilled: phrase`already contains data. Name an empty directory with --data-dir.`,
    tooLarge: phrase`^The backup …site-admin-backup.json is too large. …$`,
    unreadable: phrase`^The backup … cannot be read: … run the command as the user who owns the backup. …$`,
    webhookDisabled: phrase`\n\n1 webhook is disabled, … restore the backup into another empty directory with --keep-webhooks.`,
  },
  certificate: {
    noCertificate: ({ cert }: { cert: string }) => phrase`${cert} (--tls-cert) has no complete certificate`,
    noKey: ({ key }: { key: string }) => phrase`${key} (--tls-key) has no complete private key`,
    otherKey: ({ cert, key }: { cert: string; key: string }) =>
      phrase`The private key ${key} does not belong to the certificate ${cert}.`,
    replaced: (file: string) => new RegExp(`^The new certificate ${file} is in use\\. It expires on \\S+\\.$`),
    unreadable: (file: string) => phrase`${file} (--tls-key) cannot be read: …. Check the path and its access rights.`,
  },
  check: {
    unreadable: (why: string) => phrase`^it cannot be read: ${why}`,
    blobSize: (found: number, expected: number) => phrase`^it has ${found} bytes instead of ${expected}: …blobs`,
    noFile: 'it is not a file',
    bytesDiffer: 'its bytes differ from those that were stored',
    bytesMissing: phrase`^its bytes are missing: … Upload it again`,
    bytesUnread: phrase`^the bytes of the files were not compared`,
    column: (column: string) => `the service cannot read its ${column}. Restore the database from a backup`,
    damaged: phrase`^it is damaged: `,
    damagedBy: (what: string) => `it is damaged: ${what}. Restore it from a backup.`,
    foreign: (what: string) => `the ${what} is foreign: this program does not create it`,
    indexAltered: (index: string, rows: string) => `the index ${index} is altered: ${rows}`,
    indexMissing: (index: string) => `the index ${index} is missing`,
    lostLink: (object: string) => `it is linked with ${object}, and one of the two does not exist`,
    missing: 'it is missing',
    noFaults: 'no faults\n',
    notAFile: phrase`it is not a file: … Upload it again`,
    ofNoFile: 'it belongs to no file.',
    ofNoFileHere: 'it belongs to no file. The next start moves it to orphans.',
    onlyRights: phrase`^it cannot be read: EACCES: … The access rights are wrong: `,
    size: (found: number, expected: number) => `it has ${found} bytes instead of ${expected}`,
    tableAltered: (table: string, column: string) => `the table ${table} is altered: ${column}`,
    tableMissing: (table: string) => `the table ${table} is missing`,
    uploadShort: (missing: number, blob: string) =>
      phrase`^${missing} of the 30000 received bytes are missing: …${blob}. … must start again. `,
    versionDiffers: phrase`^its bytes differ from those that were stored: … cannot be restored,`,
    versionMissing: phrase`^its bytes are missing: …. This version cannot be restored, … are complete. … KEPT_DAYS (30 by default)`,
  },
  access: {
    clientRefused: (issuer: string) =>
      `The issuer ${issuer} refuses the client id or the client secret of this service. Correct them.`,
    noRule: 'No rule matches this token.',
    noJob: 'This is not a job of GitHub Actions, or the job may not request its identity.',
  },
  client: {
    addForce: (count: number) =>
      `add --force to overwrite all conflicts and the files that changed only on the target (${count}).`,
    answeredWith: (status: number) => `answered with status ${status}`,
    beginWithHttp: phrase` begin the address with http://.$`,
    changedMeanwhile: 'was changed by someone else in the meantime. Repeat the command to replace it.',
    changedInZip: (path: string) => `"${path}" changed or was removed during the download, so the zip is not complete.`,
    conflictAnd: (path: string, other: string) =>
      phrase`^CONFLICT (changed on both sides, or never synchronised)  ${path}  here 4 bytes, 20…Z; on the site 6 bytes, 20…Z\nleft unchanged (changed only on the target)  ${other}  1 byte\n$`,
    changedDuringUpload: 'changed during the upload',
    diff: (create: number, unchanged: number) => `${create} created, 0 replaced, ${unchanged} unchanged`,
    done: (create: number, replace = 0, rest = '') => `Done: ${create} created, ${replace} replaced, 0 removed${rest}.`,
    fileForFolder: (path: string) => phrase`This is a file, but a folder is needed: …${path}. Name`,
    ignored: (count: number) => `${count} ignored (--all includes them)`,
    inTheWay: (what: string, path: string) => `CONFLICT (the ${what} ${path} is in the way)  ${path}`,
    insideItself: 'The new path is inside the old one',
    getZip: (path: string) => `"${path}" is a folder. Download it as one file with "site-files get '${path}' FILE.zip"`,
    isFile: 'is a file of the site',
    missingAt: (path: string) => phrase`This file or folder does not exist: …${path}. Check the path.$`,
    noAddress: (url: string) => `${url} is not the address of a service`,
    noAnswer: 'did not answer',
    noAnswerFrom: (host: string, code: string) => `${host} did not answer (${code}).`,
    noFolder: (path: string) => phrase`The folder …${path} does not exist`,
    askName: 'Name (press Enter to use a token instead)',
    notAnUpload: (address: string) => `"${address}" is not an upload of this site.`,
    noStateFolder: phrase`.site-files" is not a folder. Remove it, then repeat.$`,
    notAFolder: (path: string) => phrase`^"…${path}" is not a folder. Name a folder, or use "get" and "put"`,
    notPermitted: (path: string) => phrase`failed  ${path}: You have no permission to read or write this: `,
    notRegular: (path: string) => `${path && `"${path}" `}is not a regular file`,
    onThisMachine: phrase` 1 file is only on this machine; --delete removes it.$`,
    placeTaken: (path: string, by: string) =>
      `${path} was not written: its place is taken by a ${by}. Rename the file or folder there, then repeat.`,
    proxy: 'any proxy in between',
    readOnly: (place: string) => `This disk is read-only: ${place}. Choose another place.`,
    renewCertificate: phrase` If the clock of this machine is right, ask the operator of the service to renew it.$`,
    serviceDown: phrase`^Refused. The service behind the proxy may be down. ….$`,
    siteLacks: 'has no such file or folder',
    siteLacksPath: (path: string) => phrase`^…/${path}: The site has no such file or folder. `,
    listDeleted: (path: string) => phrase`^…/${path}: …In the console, "Deleted files" lists the kept ones.`,
    listVersions: phrase`^hello.txt: …"site-files versions" lists the kept versions.`,
    siteNotCovered: (id: number) => `does not cover site ${id}`,
    toDo: 'To do: 2 to create, 0 to replace (2.0 KB in all), 1 to remove (300 bytes); 3 unchanged, ',
    tokenNotValidThere: (host: string) => `${host}, where the token is not valid`,
    trustAuthority: phrase` set NODE_EXTRA_CA_CERTS to the file of the authority.$`,
    unencrypted: (from: string, to: string) =>
      `${from} returned the unencrypted address ${to}. Nothing was sent there. ` +
      'Ask the operator to set --base-url to an https address.',
  },
  deployment: {
    enough: (region: string, limit: number) =>
      `${region}: ${limit} functions can run at once, and the settings need 50: enough.`,
    minutes: phrase`^--minutes must be a whole number from 0 to 180. …`,
    notUpdated: (region: string, stack: string, ...later: string[]) =>
      phrase`^The deployment of ${stack} … These stacks keep their version: ${later.join(', ')}.\nIf CloudFormation … continues. …\n  aws cloudformation … --region ${region} --stack-name ${stack}$`,
    tooFew: (region: string, limit: number, needed: number) =>
      new RegExp(`${limit} functions .* need ${needed}.*--region ${region} .*L-B99A9384 --desired-value 1000`, 's'),
    unknown: (region: string, needed: number) => phrase`${region}: can ${needed} functions `,
    unreadable: phrase`^cdk.json cannot be read. Correct or restore this file. (SyntaxError: …)$`,
  },
  directory: {
    databaseInUse: phrase`site-admin.db is in use by another process. Repeat the command … Nothing was changed.$`,
    beforeFirst: (file: string, what: string) =>
      phrase`^The database …${file} is ${what}, but … was in use before. … Nothing was changed.$`,
    beingOpened: phrase`is being opened or closed by another process. Repeat the command …`,
    belowFile: phrase`^The data directory … cannot be used: ENOTDIR: … is a file. Name another …--data-dir.$`,
    cannotBeOpened: phrase`^The data directory … cannot be opened: … Restore the directory from a backup, …$`,
    cannotBeRead: (file: string, why: string) =>
      phrase`^The file …${file} cannot be read: ${why}. … Nothing was changed.$`,
    damaged: phrase`^The database …site-admin.db is damaged: … Restore the directory from a backup, … Nothing was changed…$`,
    databaseLocked: phrase`^The database … cannot be opened. Check that it is a file, … Nothing was changed.$`,
    databaseReadOnly: phrase`^The database cannot be used: attempt to write a readonly database. The access rights are wrong: …$`,
    filesDamaged: phrase`^1 file is damaged and cannot be read. Run "site-admin check" to see the damage.$`,
    foreign: phrase`^The directory … has files, but no …site-admin.json: …--data-dir.$`,
    full: (path: string) => phrase`^The disk of the data directory …${path} is full, … Free some space`,
    inUse: phrase`^The data directory … is in use by another process. …--data-dir.$`,
    isBackup: phrase`is a backup. Restore it into an empty data directory: "site-admin restore '…' --data-dir DIRECTORY"`,
    layout: (layout: number) =>
      phrase`^The data directory … has layout ${layout}, and this version … Nothing was changed.$`,
    missing: phrase`^There is no … "site-admin serve" or, in a clone, "npm start" creates a data directory. … --data-dir.$`,
    newer: (tables: number) =>
      phrase`^The database has tables of version ${tables}, but this program reads tables of version 10. Use the newer version `,
    noMarker: phrase`^The data directory … lacks its …site-admin.json. … Nothing was changed.$`,
    notReset: (what: string, place: string) =>
      phrase`^Nothing was removed. --reset removes ${what} from ${place}…: run it in a terminal to confirm, or add --yes.$`,
    old: phrase` was made by an early version of the service, before 0.1.0. … Move the directory away, … --reset.$`,
    pipe: phrase`site-admin.json is neither a file nor a folder. Replace it with the real file, or with a copy from a backup.$`,
    readOnly: phrase`^The data directory … read-only file system, … Copy it … name the copy with --data-dir. …$`,
    tableMissing: (table: string) =>
      phrase`is damaged: the table ${table} is missing. Restore the directory from a backup, `,
    unreleased: (tables: number) =>
      phrase`^The database has tables of version ${tables}, but this program reads tables of version 10. No released version … Use the program that made them. It can export`,
    unwritable: (path: string, code: string) =>
      phrase`^The data directory ${path}… cannot be written: ${code}: … Name another …--data-dir.$`,
    walMissing: phrase`^The file …-wal is missing, but the last process left its newest changes only there … Nothing was changed.$`,
  },
  file: {
    insideData: (file: string) =>
      phrase`^${file} is inside the data directory …, where only the service writes. Name a file elsewhere.`,
    isDirectory: 'it is a directory. Name a file.',
    notUtf8: (file: string, line: number) =>
      `${file} was not imported: line ${line} is not valid UTF-8. Save it in UTF-8, and import it again.`,
    partlyUtf8: (line: number) =>
      `Standard input was imported only in part: line ${line} is not valid UTF-8. Save it in UTF-8, ` +
      'and import it again: importing again is safe.',
    unreadable: (file: string, why: string) => `${file} cannot be read: ${why}`,
  },
  form: {
    /** A sentence about the fault, and then at least one that begins with what to do, or names an address to read. */
    advice: new RegExp(
      `^[A-Z]\\S* .+[.] (?:(?:${actions.join('|')})\\b|GET /\\S+ (?:shows|lists)\\b)[^.]*\\.(?: [^.]+\\.)?$`,
    ),
    faultOfBody: /^(?:The body must be an object|Send |"[^"]*" is not a known member|".*" are not known members)/,
    faultOfMember: /^(?:is missing\. It )?must (?:be|have|not) /,
  },
  http: {
    noOperator: (name: string, member: string) =>
      phrase`"${name}" on ${member} is not an operator. Operators: $eq, …, $nin`,
    notMultipart: phrase`Send files as multipart/form-data, one file by PUT to its path, or one file by tus with Tus-Resumable.$`,
    noMember: (name: string) => phrase`"${name}" is not a known member. Use only these members: …`,
    xmlTooDeep: 'nests deeper than 32 levels',
    xmlUnclosed: (name: string, line: number) => `XML: Missing end tag for element ${name} (line ${line}). Correct`,
  },
  output: {
    full: (rest = '') => phrase`^Standard output cannot be written: ENOSPC: …${rest}$`,
    exportIncomplete: 'Standard output cannot be written: write EPIPE. The export is incomplete. Repeat the command.',
    webhookRemoved: phrase`^Standard output cannot be written: …. Nobody saw the secret of the webhook, so it is removed. Create …$`,
  },
  record: {
    interrupted: (records: number) =>
      `Interrupted. Imported records: ${records}. Import the same file again to continue: importing again is safe.`,
    least: (name: string) => `${name}: must be 1 or more`,
    noCategory: 'categoryId: the site has no such category',
    noNews: 'objectId: the site has no such news item',
    tooLong: 'it is longer than 4194304 characters',
  },
  settings: {
    atLeast: (least: number) => `must be at least ${least}`,
    dataCentreId: 'must be the id of a data centre',
    domain: 'needs a hostedZoneId, a certificateArn',
    logDays: 'must be a number of days that CloudWatch offers',
    missing: 'is missing',
    object: 'must be a JSON object',
    only: (name: string) => phrase`^The settings of the app are wrong. Correct … after -c:\n- siteAdmin.${name}: …$`,
    origin: 'must be an origin',
    partition: 'must be in the AWS partition',
    region: 'must be a region',
    vault: 'must be the ARN of a vault',
    zone: 'must be the id of a hosted zone',
  },
  site: {
    baseUrlOfService: (id: string) =>
      `A service that serves ${id} from this data directory sets its base URL at each start. Start it with the new --base-url.\n`,
    missing: (id: number) => `Site ${id} does not exist. "site list" lists all sites.`,
    noDataCentre: 'There is no data centre yet. Add one with "data-centre add ID --url URL".',
    noSingleDefault:
      'Add --data-centre, because the directory has several default data centres, or none. Choose one of: eu, us.',
    noFreeId: 'No id above the highest used id is free. Choose a lower id with --id.',
    removal: (parts: string) => phrase`^Removing site 1001 "Demo site" also removes ${parts}`,
    waiting: phrase`^The site is empty. Waiting 60 seconds until its tokens stop working everywhere`,
  },
  start: {
    dataCentre: (id: string) => new RegExp(`^Data centre ${id} is at http://(\\S+) \\(listening on \\1\\)$`, 'm'),
    firstPerson: 'Add the first person: ',
    portTaken: (port: number) => `Port ${port} is taken. Choose another port with --port or --data-centres.\n`,
    ready: (url: string, host = '(.+)') =>
      new RegExp(`^site-admin is ready at ${url} \\(listening on ${host}\\)$`, 'm'),
  },
  usage: {
    choices: (list: string) => `Allowed choices are ${list}`,
    help: 'Add --help to see the usage.',
    missing: 'missing required argument',
    tooMany: 'too many arguments',
    unknown: (name: string) => `unknown ${name}`,
  },
  delivery: {
    late: (seconds: number) => `The target did not answer within ${seconds} seconds.`,
    closed: 'The target closed the connection without an answer.',
    refused: 'The target refused the connection.',
    private: 'The target is not at a public address. Change it. On one machine, --allow-private-webhooks permits it.',
    noAddress: (code: string) => `The host name of the target has no address (${code}).`,
    failed: (code: string) => `The request to the target failed (${code}).`,
    unknown: (id: string) =>
      `Webhook ${id} has no such delivery. "webhook deliveries ${id} --site 1001" lists the last 100 deliveries.`,
  },
}

const { record, usage } = messages
const noSite = messages.site.missing(9)
const unknownMember = (names: string, members: string) =>
  `${names} is not a known member. Use only these members: ${members}`
const lacks = (what: string, list: string) => `Site 1001 has no ${what}. ${list}`
const noForm = lacks('web form 9', '"form list --site 1001" lists its web forms.')
const noCategory = lacks('category 9', '"category list --site 1001" lists its categories.')
const has = (what: string) => `Site 1001 has a ${what} already. Choose another --id, or leave it out.`
const alsoRemoves = (what: string, parts: string) =>
  `Removing ${what} also removes its ${parts}. Nothing was removed. To remove it, add --yes.`

const noPerson = 'There is no person bob. "user list --site ID" lists the people of a site.'
const noKey = 'This key does not exist: it may be revoked or expired. "key list --site ID" lists the keys.'
const eitherRightOrRole = 'Give --right for programs, or --role for people, but not both.'

/** Refused commands, on a site with a web form 3, a category 5 and a news item 1, and beside an issuer `work`. */
export const refusedCommands = [
  ['site create --name Again --id 1001', 'There is a site 1001 already. Choose another --id, or leave it out.'],
  ['site create --name Far --data-centre mars', 'There is no data centre mars. Choose one of: us.'],
  ...[
    ...['site show 9', 'site rename 9 --name A', 'site remove 9 --yes', 'form list --site 9'],
    ...['form create --name A --site 9', 'object list blog --site 9', 'object create blog --site 9'],
    ...['workflow list --site 9', 'export --site 9', 'token issue --user ann --site 1001 --site 9'],
    ...['token list --site 9', 'webhook list --site 9', 'rule list --site 9', 'audit --site 9'],
    ...['rule add --issuer nobody --claim a=b --site 9 --right files:read', 'user add ann --site 9 --role viewer'],
    ...['user change bob --site 9 --role viewer', 'user remove bob --site 9 --yes'],
  ].map((line) => [line, noSite] as const),
  ['form create --name A --site 1001 --id 3', has('web form 3')],
  ['form rename 9 --name A --site 1001', noForm],
  ['form remove 9 --dry-run --site 1001', noForm],
  ['form remove 3 --site 1001', alsoRemoves('web form 3 "Contact"', 'fields: 1')],
  ['category rename 9 --name A --site 1001', noCategory],
  ['category remove 9 --dry-run --site 1001', noCategory],
  ['category remove 5 --site 1001', alsoRemoves('category 5', 'links: 1')],
  ['object create news --id 1 --site 1001', has('news item 1')],
  ['object create news --site 1001 --members {"enabled":1}', 'enabled: must be true or false.'],
  ['object show news 9 --site 1001', lacks('news item 9', '"object list news --site 1001" lists them.')],
  ['object remove blog 9 --dry-run --site 1001', lacks('blog 9', '"object list blog --site 1001" lists them.')],
  ['object remove news 1 --site 1001', alsoRemoves('news item 1', 'links: 1')],
  [
    'webhook remove whk_0123456789abcdef --site 1001',
    'Site 1001 has no such webhook. "webhook list --site 1001" lists its webhooks.',
  ],
  [
    'webhook create --url http://example.com/ --site 1001',
    'The target must be an https address. On one machine, --allow-private-webhooks permits http for 127.0.0.1.',
  ],
  [
    'webhook change whk_0123456789abcdef --site 1001',
    'Name what to change: "webhook change --help" lists the options.',
  ],
  [
    'issuer add https://login.example.com/a --id work --audience site-admin',
    'The issuer work (https://login.example.com) already exists. Remove it first, or choose another id and URL.',
  ],
  ['issuer remove nobody', 'The issuer nobody does not exist. "issuer list" lists all issuers.'],
  ['rule remove 0', 'The rule 0 does not exist. "rule list" lists all rules.'],
  [
    'rule add --issuer nobody --claim a=b --site 1001 --right files:read',
    'The issuer nobody does not exist. "issuer list" lists all issuers.',
  ],
  ['rule add --issuer nobody --claim a=b --site 1001', eitherRightOrRole],
  ['rule add --issuer nobody --claim a=b --site 1001 --right files:read --role editor', eitherRightOrRole],
  [
    'rule add --issuer nobody --claim a=b --claim a=c --site 1001 --role editor',
    'Give each claim only once: a token must have all claims of a rule.',
  ],
  ['user add ann --site 1001', 'Give the person rights with --role or --right. "role list" lists the roles.'],
  ['user add ann --site 1001 --role author', 'The role author needs at least one folder: add --folder /PATH.'],
  ['user add ann --site 1001 --role viewer --folder /a', 'Only the role author has folders: leave out --folder.'],
  ...['show bob', 'invite bob', 'disable bob', 'remove bob', 'change bob --enable'].map(
    (line) => [`user ${line}`, noPerson] as const,
  ),
  [
    'key create --site 1001 --name Robot --user eve --right files:read',
    'Site 1001 has no person eve. "user list --site 1001" lists its people.',
  ],
  ...['revoke sak_unknown', 'revoke 0123456789', 'change 0123456789 --user bob'].map(
    (line) => [`key ${line}`, noKey] as const,
  ),
  [
    `token revoke ${'a'.repeat(64)}`,
    'This token does not exist: it may be revoked or expired. "token list" lists the tokens.',
  ],
] as const

const largest = 2147483647

const areas = 'files, forms, categories, history, access'

export const wrongCommands = [
  ['bogus', usage.unknown("command 'bogus'")],
  ['site lst', "unknown command 'lst' (Did you mean list?)"],
  ['site', '{"code":null,"message":"Name a command: '],
  ['site create', "required option '--name <name>' not specified"],
  ['site create --name \u0007', 'without control characters'],
  [`site create --name ${'x'.repeat(201)}`, '1 to 200 characters'],
  ['site create --name A --id 0', 'It must be a whole number from 1 to 999999999999999.'],
  ['site show 1000000000000000', 'It must be a whole number from 1 to 999999999999999.'],
  ['site create --name A --data-centre U$', 'lower-case letters'],
  ['site show', usage.missing],
  ['--data-dir= site list', 'It must not be empty'],
  ['backup ', 'It must not be empty'],
  ['import  --site 1001', 'It must not be empty'],
  ['export --site 1001 --out=', 'It must not be empty'],
  ['data-centre add Us --url http://a', 'lower-case letters'],
  ['data-centre add us --url ftp://a', 'http or https URL'],
  ['data-centre add us --url http://me:secret@a', 'http or https URL'],
  ['data-centre add us --url http://a --region Frankfurt', 'a region such as eu-west-1'],
  ['token issue --user ann', "required option '--site <id>' not specified"],
  ['token issue --user ann --site 1001 --permission root', usage.choices('files.')],
  ['token issue --user ann --site 1001 --ttl 0s', 'It must be a duration such as 30m'],
  ['token issue --user ann --site 1001 --ttl 31536001s', 'at most a year'],
  ['issuer add http://login.example.com --id a --audience b', 'It must be an https URL without a query'],
  ['issuer add http://localhost:4000 --id a --audience b', 'It must be an https URL without a query'],
  ['issuer add https://me:secret@login.example.com --id a --audience b', 'It must be an https URL without a query'],
  ['issuer add https://login.example.com?a=b --id a --audience b', 'It must be an https URL without a query'],
  ['issuer add https://login.example.com --id A --audience b', 'It must begin with a lower-case letter'],
  ['issuer add https://login.example.com --id a --audience übung', 'It must be 1 to 255 ASCII characters'],
  ['issuer add https://login.example.com --id a', "required option '--audience <audience>' not specified"],
  ['rule add --issuer a --site 1001 --role editor', "required option '--claim <name=value>' not specified"],
  ['rule add --issuer a --claim aud=b --site 1001 --role editor', 'A rule cannot use the claims iss'],
  ['rule add --issuer a --claim b --site 1001 --role editor', 'It must look like repository=acme/site'],
  ['rule add --issuer a --claim b=c --site 1001 --right files:read --ttl 61m', 'at most an hour'],
  ['rule add --issuer a --claim b=c --site 1001 --role author', usage.choices('owner, editor, viewer.')],
  ['user add ann --site 1001 --role viewer --right files:read', 'cannot be used with option'],
  ['rule add --issuer a --claim b=c --site 1001 --role editor --ttl 5m', "cannot be used with option '--ttl"],
  ['category rename 2147483648 --site 1001 --name A', `It must be a whole number from 1 to ${largest}.`],
  ['object list poem --site 1001', usage.choices('news, blog.')],
  ['object create news --site 1001 --members 7', 'It must be a JSON object'],
  ['object create news --site 1001 --members {"id":7}', 'Name the id with --id'],
  ...['2-days', '0d'].map((span) => [`audit --site 1001 --since ${span}`, '30m, 4h, 2d'] as const),
  ['audit --site 1001 --type file.eaten', 'type of change'],
  ['token issue --user ann --site 1001 --right files:own', areas],
  ['key create --site 1001 --name Robot --user bob --right files:own', areas],
  [`user add ann --site 1001 --role author${' --folder /a'.repeat(51)}`, 'at most 50 times'],
  ['key create --site 1001 --name Robot --user bob --right files:read:/news --ttl 2y', 'at most a year'],
  ['user add ann --site 1001 --role director', usage.choices('owner, editor, author, viewer')],
  ['user add ann --site 1001 --role author --folder /a/../b', 'a folder, such as /news.'],
  ['user add ann --site 1001 --role viewer --email ann', 'It must be an e-mail address, or empty to remove it.'],
  ['user add \u0430nn --site 1001 --role viewer', '1 to 64 letters, digits'],
  ['user add storage --site 1001 --role viewer', 'and must not be '],
] as const

export const wrongFlags = [
  ['--port http', 'a number from 0 to 65535'],
  ['--port -1', 'a number from 0 to 65535'],
  ['--port 0 --data-centres us:0', 'Give --port or --data-centres, not both'],
  ['--data-centres ', 'It must be a list of ids and ports, such as us:4000,eu:4001'],
  ['--data-centres us:0,us:0', 'Name each data centre only once'],
  ['--data-centres US:0', 'It must be a list of ids and ports, such as us:4000,eu:4001'],
  ['--data-centres us:65536', 'a number from 0 to 65535'],
  ['--host ', 'It must not be empty'],
  ['--base-url ftp://example.com', 'It must be a URL, or a list such as'],
  ['--base-url https://u:p@example.com', 'without a query or a password'],
  ['--base-url https://example.com?a=b', 'without a query or a password'],
  ['--base-url us=', 'It must be a URL, or a list such as'],
  ['--base-url us=https://us.example,us=https://us.example', 'Name each data centre only once'],
  ['--base-url eu=https://eu.example', '--base-url names the data centre eu, but --data-centres does not'],
  ['--base-url https://example.com --data-centres us:0,eu:0', '--base-url must give the URL of each'],
  ['--tls-cert cert.pem', '--tls-cert and --tls-key belong together'],
  ['--tls-key key.pem', '--tls-cert and --tls-key belong together'],
  ['--metrics here', 'It must be a port, or an address with a port, such as 127.0.0.1:9464.'],
  ['--trust-proxy all', 'It must be an address or a block such as 10.0.0.0/8.'],
  ['--log xml', usage.choices('text, json')],
  ['extra', usage.tooMany],
] as const

export const wrongFileCommands = [
  ...['cat', 'get', 'mv a', 'cp a', 'rm', 'restore', 'purge', 'versions', 'diff', 'push', 'pull', 'watch'].map(
    (line) => [line, usage.missing] as const,
  ),
  ['nope', usage.unknown("command 'nope'")],
  ['ls a b', usage.tooMany],
  ['put one', 'Name a file and a path'],
  ['completion fish', usage.choices('bash, zsh')],
  ['--site x ls', 'It must be the number of a site'],
  ['--identity github --token-file a ls', 'cannot be used with option'],
  ['--url x ls', `${messages.client.noAddress('"x"')}. Use an address such as`],
  ['--url https://ann@example.com ls', 'Remove the name and the password from the address of the service.'],
  ['push --deleet .', usage.unknown("option '--deleet'")],
  ['ls', 'Name the service with'],
  ['--url http://127.0.0.1:1 ls', 'No token for'],
  ['--url http://127.0.0.1:1 --token-file /dev/zero ls', 'too large for a token'],
  ['--url http://127.0.0.1:1 --token-file /dev/null ls', '/dev/null contains no token.'],
  ['--url http://127.0.0.1:1 --token-file= ls', 'Name the file with the token'],
  ['--url http://127.0.0.1:1 login --user=', 'Name a person after --user, or leave out --user to use a token.'],
] as const

const half = 'must not contain half of a character (a lone surrogate)'
const kinds = 'kind: must be one of category, news, blog, link, webForm, field'
const field = '{"kind":"field","webFormId":1,"typeId":-2'

export const badRecords = [
  ['{"kind":', 'it is not JSON: Unexpected end of JSON input. A file must have one record per line, or one array'],
  ['7', 'it is not an object'],
  ['[]', 'it is not an object'],
  ['{}', kinds],
  ['{"kind":["webForm"],"id":1}', kinds],
  [
    '{"kind":"webForm","id":1,"__proto__":{"a":1}}',
    'the members "__proto__" and "constructor.prototype" are not allowed',
  ],
  ['{"kind":"webForm"}', 'id: is missing. It must be a whole number'],
  ['{"kind":"webForm","id":0}', record.least('id')],
  ['{"kind":"webForm","id":1,"name":""}', 'name: must not be empty'],
  ['{"kind":"webForm","id":1,"name":"a\\u0000b"}', 'name: must not have control characters'],
  ['{"kind":"webForm","id":1,"name":"a\\ud800"}', `name: ${half}`],
  ['{"kind":"news","id":1,"body":"\\ud800"}', `body: ${half}`],
  ['{"kind":"webForm","id":1,"\\u001b[2J\\n":1}', unknownMember('"\\u001b[2J\\n"', 'id, name')],
  [`{"kind":"webForm","id":1,"name":"${'x'.repeat(201)}"}`, 'name: must have 200 characters or fewer'],
  [`${field},"name":"${'x'.repeat(81)}"}`, 'name: must have 80 characters or fewer'],
  ['{"kind":"news","id":1,"roleId":3000000000}', 'roleId: must be a whole number from -2147483648 to 2147483647'],
  ['{"kind":"news","id":2147483648}', `id: must be ${largest} or less`],
  ['{"kind":"news","id":1,"weight":-2147483649}', 'weight: must be a whole number from -2147483648'],
  ['{"kind":"news","id":1,"subject":null}', 'subject: must be a string'],
  [`{"kind":"news","id":1,"subject":"${'x'.repeat(501)}"}`, 'subject: must have 500 characters or fewer'],
  [`{"kind":"news","id":1,"body":"${'ä'.repeat(175_001)}"}`, 'body: must have 350000 bytes or fewer'],
  ['{"kind":"blog","id":1,"createDate":"2026-02-30"}', 'createDate: must be a date'],
  ['{"kind":"blog","id":1,"createDate":7}', 'createDate: must be a date such as 2026-01-31 or 2026-01-31T12:00:00'],
  [
    '{"kind":"blog","id":1,"a":1,"b":1,"c":1,"d":1}',
    '"a", "b", "c" and 1 more are not known members. Use only these members: id, ',
  ],
  [
    '{"kind":"link","type":"news","categoryId":1,"objectId":1,"colour":"red"}',
    unknownMember('"colour"', 'type, categoryId, objectId, displayable'),
  ],
  [`${field},"colour":"red"}`, unknownMember('"colour"', 'webFormId, typeId, name, mandatory, order')],
  ['{"kind":"field","webFormId":9,"typeId":-2}', 'The site has no web form with this id. Check the id.'],
  ['{"kind":"field","webFormId":1,"typeId":-1}', 'typeId: must be the number of a field type, such as -2'],
  [`${field},"order":0}`, record.least('order')],
  [`${field},"order":2147483648}`, `order: must be ${largest} or less`],
  ['{"kind":"webForm","id":1000000000000000}', 'id: must be 999999999999999 or less'],
  [`${field},"mandatory":1}`, 'mandatory: must be true or false'],
] as const
