/** `…` matches any text, `^` the beginning and `$` the end of a message. */
const text = (parts: TemplateStringsArray, ...facts: readonly unknown[]): RegExp => {
  const words = String.raw({ raw: parts }, ...facts)
  const escaped = words.replaceAll(/(?!^)\^|\$(?!$)|[\\.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*')
  return new RegExp(escaped.replace(/\$$/, '\\n?$'))
}

const actions = [
  ...['Ask', 'Change', 'Check', 'Choose', 'Create', 'Empty', 'End', 'Free', 'Give', 'List', 'Move', 'Name', 'Put'],
  ...['Read', 'Remove', 'Repeat', 'Report', 'Send', 'Split', 'Use'],
]

/** The messages of the service and its tools, by name: when their words change, no test changes. */
export const messages = {
  canary: { otherBytes: 'did not answer the bytes that were stored' },
  alarm: {
    mayBeStored: 'may have been made',
    repeatIsSafe: 'repeating it is safe',
    slowReplica: (table: string, region: string) => `${table} take more than 40 seconds to reach ${region}`,
  },
  aws: {
    noAnswer: (place: string) => text`^The store is busy or does not answer. … (Stacks: SiteAdmin-… at ${place})$`,
    noCredentials: (place: string) =>
      text`^AWS refuses this: …credentials…. Check your credentials…. (Stacks: SiteAdmin-… at ${place})$`,
    noRegion: (place: string) =>
      text`^No valid region is set. Set AWS_REGION to the home region of the directory, such as us-east-1. (Stacks: SiteAdmin-… at ${place})$`,
    noTables: (prefix: string, region: string) =>
      text`^This region has no tables of the service. … --directory-region, … (Stacks: ${prefix}-… at …, ${region})$`,
    noUrl: (place: string) =>
      text`^AWS_ENDPOINT_URL is not a URL. Set it to …, or leave it out. (Stacks: SiteAdmin-… at ${place})$`,
    refused: (why: string) => text`^AWS refuses this: ${why}. Check your credentials and their permissions. (…)$`,
  },
  backup: {
    noFolder: 'is not a folder',
    link: 'is a symbolic link',
    rowUnreadable: (row: string, column: string) => text`${row}…the service cannot read its ${column}. `,
    rowDamaged: (row: string) => text`^A file or row is damaged: … in ${row}. `,
    blobName: (table: string) => text`is damaged: 1 row of the table ${table} has an invalid blob name`,
    databaseDamaged: (file: string) =>
      text`^The database ${file} is damaged and cannot be backed up: … "site-admin check" lists … "site-admin restore". No backup was made.$`,
    fault: (what: string) => text`is damaged: …${what}`,
    fileDamaged: (what: string) => text`^A file or row is damaged: …, ${what}. …$`,
    full: text`^The disk is full: … Nothing of it is left.$`,
    good: (files: number) => `The backup is good: ${files} files.`,
    incomplete: text`is not a complete backup: … Nothing was changed`,
    insideBackup: text`is inside the backup`,
    insideData: text`is inside the data directory`,
    missing: (name: string) => text`^There is no backup …${name}. Name another`,
    neither: (name: string) => text`${name} is neither a file nor a folder. …$`,
    newerTables: text`which has newer tables. Restore the backup with that version or a newer version. Nothing was changed`,
    noParent: text`^There is no folder …no for the`,
    notAFolder: text`is not a folder. Name a folder that does not`,
    notEmpty: text`is not empty. Name a folder that does not exist yet.$`,
    notKnown: text`It is not known whether the backup is good: see above.$`,
    otherLayout: text`which uses another layout. Restore it with that version`,
    restoreFull: /^(The disk is full|The data directory)/,
    restoreInterrupted: text`A restore into the data directory … was interrupted`,
    some: (count: number, what: string) =>
      text`is damaged: ${count} of its files or rows are damaged, such as …: ${what}. … Nothing was changed`,
    targetFilled: text`already contains data. Name an empty directory with --data-dir.`,
    targetForeign: text`has files, but no …: it is not a data directory`,
    tooLarge: text`^The backup …site-admin-backup.json is larger than it can be. …$`,
    tooShort: (what: string) => text`${what}. … No backup was made.$`,
    unreadable: text`^The backup … cannot be read: … run the command as the user who owns the backup. …$`,
    unusableDisk: /is not empty|is the root of a file system/,
    uploadLacks: text`\n\n1 unfinished upload lacks bytes: the sender must start again. …$`,
    versionDamaged: text`\n\n1 old version is damaged and cannot be restored. The current files of the sites`,
  },
  certificate: {
    kept: /^The old certificate stays in use\. /,
    noCertificate: ({ cert }: { cert: string }) => `${cert} (--tls-cert) has no complete certificate`,
    noKey: ({ key }: { key: string }) => `${key} (--tls-key) has no complete private key`,
    otherKey: ({ cert, key }: { cert: string; key: string }) =>
      `The private key ${key} does not belong to the certificate ${cert}.`,
    replaced: (file: string) => new RegExp(`^The new certificate ${file} is in use\\. It expires on \\S+\\.$`),
    unreadable: (file: string) => `${file} (--tls-key) cannot be read: `,
  },
  check: {
    unreadable: (why: string) => text`^it cannot be read: ${why}`,
    blobSize: (found: number, expected: number) => text`^it has ${found} bytes instead of ${expected}: …blobs`,
    isEmpty: text`^it is empty`,
    noFile: 'it is not a file',
    bytesDiffer: 'its bytes differ from those that were stored',
    bytesMissing: text`^its bytes are missing: … Upload it again`,
    bytesUnread: text`^the bytes of the files were not compared`,
    cannotBeOpened: text`^it cannot be opened. Check that it is a file … belongs to you.$`,
    column: (column: string) => `the service cannot read its ${column}. Restore the database from a backup`,
    contentOfNoFile: (name: string) => `the content ${name} in it belongs to no file`,
    damaged: text`^it is damaged: `,
    damagedBy: (what: string) => `it is damaged: ${what}. Restore it from a backup.`,
    elsewhere: text`^it cannot be read here: … Copy … and check the copy.$`,
    foreign: (what: string) => `the ${what} is foreign: this program does not make it`,
    indexAltered: (index: string, rows: string) => `the index ${index} is altered: ${rows}`,
    indexMissing: (index: string) => `the index ${index} is missing`,
    interrupted: text`its removal was interrupted`,
    lostLink: (object: string) => `it is linked with ${object}, and one of the two does not exist`,
    missing: 'it is missing',
    noBytes: text`no bytes`,
    noFaults: 'no faults\n',
    notAFile: text`it is not a file: … Upload it again`,
    notContinued: text`nothing continues it`,
    ofNoFile: 'it belongs to no file.',
    ofNoFileHere: 'it belongs to no file. The next start moves it to orphans.',
    onlyRights: text`^it cannot be read: EACCES: … Only rights are missing: `,
    otherUsers: text`other users`,
    rowOf: (table: string) => text`of the table ${table}`,
    size: (found: number, expected: number) => `it has ${found} bytes instead of ${expected}`,
    tableAltered: (table: string, column: string) => `the table ${table} is altered: ${column}`,
    tableMissing: (table: string) => `the table ${table} is missing`,
    uploadShort: (missing: number, blob: string) =>
      text`^${missing} of the 30000 received bytes are missing: …${blob}. … must start again. `,
    versionDiffers: text`^its bytes differ from those that were stored: … cannot be restored,`,
    versionMissing: text`^its bytes are missing: …. This version cannot be restored, … are complete. … KEPT_DAYS (30 by default)`,
  },
  access: {
    httpsOnly: 'The service accepts passwords only over https',
    noRule: 'No rule matches this token.',
    noJob: 'This is not a job of GitHub Actions, or the job may not request its identity.',
    noTokenOfJob: (status: number) => `answered with status ${status}. Repeat the job.`,
    silent: 'did not answer. Check the address and the network',
  },
  client: {
    askOperator: 'ask the operator to correct it with --base-url',
    noFiles: 'has no files',
    addDelete: 'Add --delete to remove obstacles',
    addForce: (count: number) => `add --force to overwrite them and ${count} that changed on the target only`,
    answeredWith: (status: number) => `answered with status ${status}`,
    askAddress: 'Address of the service',
    becameShorter: 'became shorter during the upload',
    changedMeanwhile: 'was changed by someone else in the meantime. Repeat the command to replace it.',
    changedInZip: (path: string) => `${path} changed or was removed during the download, so the zip is not complete.`,
    checkAddress: text`^Refused. Check the address. ….$`,
    conflictAnd: (path: string, other: string) =>
      text`^CONFLICT (changed on both sides, or never synchronised)  ${path}  here 4 bytes, 20…Z; on the site 6 bytes, 20…Z\nleft alone (changed on the target only)  ${other}  1 bytes\n$`,
    changedDuringUpload: 'changed during the upload',
    diff: (create: number, unchanged: number) => `${create} created, 0 replaced, ${unchanged} unchanged`,
    done: (create: number, replace = 0, rest = '') => `Done: ${create} created, ${replace} replaced, 0 removed${rest}.`,
    emptySource: 'has no files, so nothing was removed',
    endless: 'has no end',
    exists: (path: string) =>
      `"${path}" already exists. Pass replace: true to replace it, or its etag to replace only that state.`,
    existsHere: text`This already exists: …. Move it away`,
    fileForFolder: (path: string) => text`This is a file, but a folder is needed: …${path}. Name`,
    folderForFile: text`This is a folder, but a file is needed: …`,
    foreignAnswer: 'not like this service',
    gaveAddress: (from: string, to: string) => `The service at ${from} gave the address ${to}.`,
    ignored: (count: number) => `${count} ignored (--all includes them)`,
    notInConflict: (path: string) => `"${path}" is not in conflict.`,
    inConflict: (count: number) => `${count} in conflict`,
    inTheWay: (what: string, path: string) => `CONFLICT (the ${what} ${path} is in the way)  ${path}`,
    insideItself: 'The new path is inside the folder',
    invalidCharacters: 'has invalid characters',
    getZip: (path: string) => `"${path}" is a folder. Download it as one file with "site-files get ${path} FILE.zip"`,
    isFile: 'is a file of the site',
    isFolder: (path: string) => `"${path}" is a folder`,
    isFolderOfSite: (path: string) => `${path}" is a folder of the site.`,
    keepsChanging: text`keeps changing. Repeat `,
    leftAlone: (path: string, size: number) => `left alone (changed on the target only)  ${path}  ${size} bytes\n`,
    linkToNowhere: (path: string) => `skipped  ${path}: it is a symbolic link that leads nowhere`,
    missing: (path: string) => `This site has no "${path}". Check the path.\n`,
    missingAt: (path: string) => text`This file or folder does not exist: …${path}. Check the path.$`,
    missingHere: 'This file or folder does not exist',
    name: text`^Name ….$`,
    noAddress: (url: string) => `${url} is not the address of a service`,
    noAnswer: 'did not answer',
    noAnswerFrom: (host: string, code: string) => `${host} did not answer (${code}).`,
    noFolder: (path: string) => text`The folder …${path} does not exist`,
    askName: 'Name (press Enter to use a token instead)',
    askPassword: 'Password (not shown)',
    askToken: 'Token (not shown)',
    noService: 'Name the service with',
    noToken: 'No token for',
    notAFile: (path: string) => text`^"…${path}" is not a file. Remove it, or replace it`,
    notAFolder: (path: string) => text`^"…${path}" is not a folder. Name a folder, or use "get" and "put"`,
    notPermitted: (path: string) => text`failed  ${path}: You have no permission to read or write this: `,
    notInZip: (name: string) => `"${name}" cannot be in a zip`,
    notRegular: (path: string) => `${path && `"${path}" `}is not a regular file`,
    nothingChanged: 'Nothing was changed.',
    onSite: (count: number) => ` ${count} files are only on the site; --delete removes them.\n`,
    onThisMachine: text` 1 file is only on this machine; --delete removes it.$`,
    outputClosed: 'Stopped, because the output was closed',
    passToken: text`^Refused. Pass a valid token with ….$`,
    placeTaken: (path: string, by: string) =>
      `${path} was not written: its place is taken by a ${by}. Rename the file or folder there, then repeat.`,
    planned: (remove: number, bytes: number) =>
      `0 to create, 0 to replace (0 bytes in all), ${remove} to remove (${bytes} bytes)`,
    progress: text`^\r1 of 2 files, 1.0 KB of 2.0 KB, …/s, … left`,
    proxy: 'any proxy in between',
    reserved: '.site-files is reserved for this command',
    sameName: 'have the same name',
    serviceDown: text`^Refused. The service behind the proxy may be down. ….$`,
    siteLacks: 'has no such file or folder',
    siteNotCovered: (id: number) => `does not cover site ${id}`,
    toDo: 'To do: 2 to create, 0 to replace (2.0 KB in all), 1 to remove (300 bytes); 3 unchanged, ',
    tokenNotValid: (host: string) => `The token is not valid for ${host}.`,
    tokenNotValidThere: (host: string) => `${host}, where the token is not valid`,
    tooLong: (path: string, here: string) =>
      `failed  ${path}: This name or path is longer than the disk allows: ${here}`,
    tooManyFolders: /This machine cannot watch so many folders/g,
    twiceInZip: (name: string) => `Two files would be "${name}" in the zip.`,
    unchangeable: 'cannot be changed',
    unencrypted: (from: string, to: string) =>
      `${from} returned the unencrypted address ${to}. Nothing was sent there. ` +
      'Ask the operator of the service to set --base-url to an https address.',
    useThatSpelling: 'Use that spelling.',
  },
  deployment: {
    account: /AWS_PROFILE.*aws sts get-caller-identity/s,
    enough: (region: string, limit: number) =>
      `${region}: ${limit} functions can run at once, and the settings need 50: enough.`,
    noAlarms: (stack: string) => `${stack} has no alarms yet`,
    notChecked: text`NOT CHECKED`,
    tooFew: (region: string, limit: number) =>
      new RegExp(`${limit} functions .* need 50..*--region ${region} .*L-B99A9384 --desired-value 1000`, 's'),
    unknown: (region: string, needed: number) => text`${region}: may ${needed} functions `,
  },
  directory: {
    oldInUse: text`is in use by another process`,
    askReset: (what: string, place: string) => `This removes ${what} from ${place}. Continue? [y/N] `,
    databaseInUse: text`site-admin.db is in use by another process. Repeat this … Nothing was changed.$`,
    damagedAnyhow: text` is damaged: …. Restore the directory from a backup, …$`,
    beforeFirst: (file: string, what: string) =>
      text`^The database …${file} is ${what}, but … was in use before. … Nothing was changed.$`,
    belowFile: text`^The data directory … cannot be used: ENOTDIR: … in the way. Name another …--data-dir.$`,
    cannotBeOpened: text`^The data directory … cannot be opened: … Restore the directory from a backup, …$`,
    cannotBeRead: (file: string, why: string) =>
      text`^The file …${file} cannot be read: ${why}. … Nothing was changed.$`,
    damaged: text`^The database …site-admin.db is damaged: … Restore the directory from a backup, … Nothing was changed…$`,
    databaseLocked: text`^The database … cannot be opened. Check that it is a file, … Nothing was changed.$`,
    databaseReadOnly: text`^The database cannot be used: attempt to write a readonly database. Only rights …$`,
    demoReplaced: text`^The demo token was revoked or has expired. A new one replaces it.`,
    filesDamaged: text`^1 file is damaged and cannot be read. Run "site-admin check" to see the damage.$`,
    foreign: text`^The directory … has files, but no …site-admin.json: …--data-dir.$`,
    full: (path: string) => text`^The disk of the data directory …${path} is full, … Make room`,
    inUse: text`^The data directory … is in use by another process. …--data-dir.$`,
    isBackup: text`is a backup. Restore it into an empty data directory: "site-admin restore …"`,
    layout: (layout: number) =>
      text`^The data directory … has layout ${layout}, and this version … Nothing was changed.$`,
    missing: text`^There is no … "site-admin serve" or, in a clone, "npm start" creates a data directory. … --data-dir.$`,
    newer: (tables: number) =>
      text`^The database has tables of version ${tables}, and this program reads those of version 9. `,
    noMarker: text`^The data directory … lacks its …site-admin.json. … Nothing was changed.$`,
    notRemoved: text`\nNothing was removed. …\r$`,
    notReset: (what: string, place: string) =>
      text`^Nothing was removed. --reset removes ${what} from ${place}…: run it in a terminal to confirm, or add --yes.$`,
    old: (version: string) => text` was made by version ${version} … Move the directory away, … --reset.$`,
    otherProgram: text`No released version made them. Choose another data directory.`,
    pipe: text`site-admin.json is neither a file nor a folder. Replace it with the real file, or with a copy from a backup.$`,
    readOnly: text`^The data directory … read-only file system, … Copy it … name the copy with --data-dir. …$`,
    tableMissing: (table: string) =>
      text`is damaged: the table ${table} is missing. Restore the directory from a backup, `,
    unreleased: (tables: number) =>
      text`^The database has tables of version ${tables}, and this program reads those of version 9. No released version made them.`,
    unwritable: text`^The data directory /proc/… cannot be written: ENOENT: … Name another …--data-dir.$`,
    walMissing: text`^The file …-wal is missing, but the service did not stop cleanly … Nothing was changed.$`,
  },
  file: {
    insideData: (file: string) =>
      `${file} is inside the data directory, where only the service writes. Name a file outside`,
    isDirectory: 'it is a directory. Name a file.',
    missing: 'there is no such file. Check its path.',
    noFolder: 'its folder does not exist. Create it first, or name another file.',
    notUtf8: (file: string, line: number) =>
      `${file} was not imported: line ${line} is not valid UTF-8. Save it in UTF-8, and import it again.`,
    partlyUtf8: (line: number) =>
      `Standard input was imported only in part: line ${line} is not valid UTF-8. Save it in UTF-8, ` +
      'and import it again: importing again is safe.',
    unreadable: (file: string, why: string) => `${file} cannot be read: ${why}`,
    unwritable: (file: string, why: string) => `${file} cannot be written: ${why}`,
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
    notUtf8: 'not UTF-8',
    noOperator: (name: string, member: string) => text`"${name}" on ${member}`,
    isMissing: (wanted: string) => `is missing. It must be ${wanted}`,
    notMultipart: text`Send files as multipart/form-data, one by PUT to its path, or by tus with Tus-Resumable.$`,
    unknownMember: (names: string, members: string) => `${names} is not a known member. Known members: ${members}`,
    noMember: (name: string) => text`"${name}" is not a known member. Known members: …`,
    incomplete: 'The request body is incomplete. Send it again.',
    manyParts: 'more than 1000 parts',
    noObject: (kind: string, id: number) => `there is no ${kind} ${id} on this site`,
    prototype: 'the members "__proto__" and "constructor.prototype" are not allowed',
    tooLargeToCopy: text`too large to copy…one by one`,
    tooLargeToMove: text`too large to rename … Upload it`,
    tooManyRemoved: (folders: string) => text`more than 10000 … ${folders}. ?deleted lists them.$`,
    tus: 'resumable uploads (tus 1.0)',
    wrongLink: '"code":104001,"message":"This link is wrong',
    xmlEntity: "Named entity isn't defined: &nbsp;",
    xmlSecondRoot: 'Extra content at the end of the document',
    xmlTooDeep: 'nests deeper than 32 levels',
    xmlType: 'document type definition',
    xmlUnclosed: (name: string, line: number) => new RegExp(`^Missing end tag for element ${name} \\(line ${line}\\)$`),
  },
  key: { lacks: (name: string, right: string) => `${name} lacks the right ${right} on site 1001` },
  output: {
    lackingChange: 'The history lacks a change',
    full: (rest = '') => text`^Standard output cannot be written: ENOSPC: …${rest}$`,
    exportIncomplete: 'Standard output cannot be written: write EPIPE. The export is incomplete. Repeat the command.',
    webhookRemoved: text`^Standard output cannot be written: …. Nobody saw the secret of the webhook, so it is removed. Create …$`,
    tokenRevoked: text`^Standard output cannot be written: …. Nobody saw the token, so it is revoked. Issue …$`,
  },
  record: {
    strict: (line: number, fault: string, records: number) =>
      `Line ${line}: ${fault} (${records} records are imported.)`,
    interrupted: (records: number) =>
      `Interrupted: ${records} records are imported. Import the same file again to continue: importing again is safe.`,
    least: (name: string) => `${name}: must be 1 or more`,
    noCategory: 'categoryId: the site has no such category',
    noForm: 'The site has no web form with this id. Check the id.',
    noNews: 'objectId: the site has no such news item',
    notAnObject: 'it is not an object',
    notJson:
      'it is not JSON: Unexpected end of JSON input. A file must have one record per line, or one array of records',
    notUtf8: (line: number) => `line ${line} is not valid UTF-8`,
    prototype: 'the members "__proto__" and "constructor.prototype" are not allowed',
    tooLong: 'it is longer than 1048576 characters',
  },
  settings: {
    absentWith: (setting: string) => `must be absent with ${setting}`,
    atLeast: (least: number) => `must be at least ${least}`,
    beginning: 'must begin',
    boundary: 'must be the name',
    certificate: 'must be the ARN of a certificate',
    cloudFrontCertificate: 'must be the ARN of a certificate in us-east-1',
    dataCentreId: 'must be the id of a data centre',
    differentId: 'must have another id',
    domain: 'needs a hostedZoneId, a certificateArn',
    hostName: 'must be a host name',
    idOf: 'must have an id of',
    inRegion: (region: string) => `must be in ${region}`,
    key: 'must be the ARN of a key',
    keyOfRegion: 'must be the ARN of a key in this region',
    logDays: 'must be a number of days that CloudWatch offers',
    missing: 'is missing',
    needs: (setting: string) => `needs ${setting}`,
    noStreaming: 'must not have streaming, because emulators',
    notStreaming: 'must be false',
    origin: 'must be an origin',
    owner: 'must be OWNER',
    partition: 'must be in the AWS partition',
    prefix: 'must be 1 to 32 letters',
    region: 'must be a region',
    setHome: (region: string) => `Add "directoryRegion": "${region}"`,
    shared: 'must not share a domainName',
    unknown: (name: string) => `There is no setting ${name}. `,
    vault: 'must be the ARN of a vault',
    wrong: (names: string) => `Settings missing or wrong: ${names}.\n`,
    zone: 'must be the id of a hosted zone',
  },
  site: {
    baseUrlKept: 'Running services use the old base URL for up to 30 seconds.\n',
    baseUrlOfService: (id: string) =>
      `A service that serves ${id} from this data directory sets its base URL at each start. Start it with the new --base-url.\n`,
    lacks: (what: string, list = '') => `Site 1001 has no ${what}. ${list}`,
    missing: (id: number) => `Site ${id} does not exist. "site list" lists all sites.`,
    noDataCentre: 'There is no data centre yet. Add one with "data-centre add ID --url URL".',
    noFreeId: 'No id above the highest used id is free. Choose a lower id with --id.',
    removal: (parts: string) => text`^Removing site 1001 "Demo site" also removes ${parts}`,
    waiting: text`^The site is empty. Waiting 60 seconds until its tokens stop working everywhere`,
  },
  start: {
    dataCentre: (id: string) => new RegExp(`^Data centre ${id} is at http://(\\S+) \\(listening on \\1\\)$`, 'm'),
    failed: 'The service failed:',
    firstPerson: 'Add the first person: ',
    notStopped: 'The service did not stop cleanly:',
    portTaken: (port: number) => `Port ${port} is taken. Choose another port with --port or --data-centres.\n`,
    ready: (url: string, host = '(.+)') =>
      new RegExp(`^site-admin is ready at ${url} \\(listening on ${host}\\)$`, 'm'),
    waiting: /^Waiting for the answers to 1 request\.$/m,
  },
  usage: {
    invalid: (option: string, value: string) => text`^error: option '${option}' argument '${value}' is invalid. `,
    portOrDataCentres: 'Give --port or --data-centres, not both',
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
    private: 'The target is not at a public address.',
    failed: (code: string) => `The request to the target failed (${code}).`,
    unknown: (id: string) =>
      `Webhook ${id} has no such delivery. "webhook deliveries ${id} --site 1001" lists the last 100 deliveries.`,
  },
  user: {
    lastOwner: 'This is the last owner of a site.',
    removal: (keys: number) => `also ends ${keys} key${keys === 1 ? '' : 's'} and all sessions. Nothing was removed`,
  },
}

const { http, site, record, usage } = messages
const noSite = site.missing(9)
const noForm = site.lacks('web form 9', '"form list" lists its web forms.')
const noCategory = site.lacks('category 9', '"category list" lists its categories.')
const has = (what: string) => `Site 1001 has a ${what} already. Choose another --id, or leave it out.`
const alsoRemoves = (what: string, parts: string) =>
  `Removing ${what} also removes its ${parts}. Nothing was removed: add --yes to remove it.`

const noPerson = 'There is no person bob. "user list --site ID" lists the people of a site.'
const noKey = 'This key does not exist: it may be revoked or expired. "key list" lists the keys of a site.'
const eitherRightOrRole = 'Give --right for programs, or --role for people, but not both.'

/** Refused commands, on a site with a web form 3, a category 5 and a news item 1. */
export const refusedCommands = [
  ['site create --name Again --id 1001', 'There is a site 1001 already. Choose another --id, or leave it out.'],
  ['site create --name Far --data-centre mars', 'There is no data centre mars. Choose one of: us.'],
  ['site show 9', noSite],
  ['site rename 9 --name A', noSite],
  ['site remove 9 --yes', noSite],
  ['form list --site 9', noSite],
  ['form create --name A --site 9', noSite],
  ['form create --name A --site 1001 --id 3', has('web form 3')],
  ['form rename 9 --name A --site 1001', noForm],
  ['form remove 9 --dry-run --site 1001', noForm],
  ['form remove 3 --site 1001', alsoRemoves('web form 3 "Contact"', 'fields: 1')],
  ['category rename 9 --name A --site 1001', noCategory],
  ['category remove 9 --dry-run --site 1001', noCategory],
  ['category remove 5 --site 1001', alsoRemoves('category 5', 'links: 1')],
  ['object list blog --site 9', noSite],
  ['object create blog --site 9', noSite],
  ['object create news --id 1 --site 1001', has('news item 1')],
  ['object show news 9 --site 1001', site.lacks('news item 9', '"object list news" lists the existing ones.')],
  ['object remove blog 9 --dry-run --site 1001', site.lacks('blog 9', '"object list blog" lists the existing ones.')],
  ['object remove news 1 --site 1001', alsoRemoves('news item 1', 'links: 1')],
  ['workflow list --site 9', noSite],
  ['export --site 9', noSite],
  ['token issue --user ann --site 1001 --site 9', noSite],
  ['token list --site 9', noSite],
  ['webhook list --site 9', noSite],
  [
    'webhook remove whk_0123456789abcdef --site 1001',
    'Site 1001 has no such webhook. "webhook list --site 1001" lists its webhooks.',
  ],
  [
    'webhook create --url http://example.com/ --site 1001',
    'The target must be an https address. With --allow-private-webhooks, 127.0.0.1 may use http.',
  ],
  [
    'webhook change whk_0123456789abcdef --site 1001',
    'Name what to change: "webhook change --help" lists the options.',
  ],
  ['issuer remove nobody', 'The issuer nobody does not exist. "issuer list" lists all issuers.'],
  ['rule remove 0', 'The rule 0 does not exist. "rule list" lists all rules.'],
  ['rule list --site 9', noSite],
  ['rule add --issuer nobody --claim a=b --site 9 --right files:read', noSite],
  [
    'rule add --issuer nobody --claim a=b --site 1001 --right files:read',
    'The issuer nobody does not exist. "issuer list" lists all issuers.',
  ],
  ['rule add --issuer nobody --claim a=b --site 1001', eitherRightOrRole],
  ['rule add --issuer nobody --claim a=b --site 1001 --right files:read --role editor', eitherRightOrRole],
  [
    'rule add --issuer nobody --claim a=b --claim a=c --site 1001 --role editor',
    'Name each claim once: a token must have all of them.',
  ],
  ['audit --site 9', noSite],
  ['user add ann --site 9 --role viewer', noSite],
  ['user add ann --site 1001', 'Name the rights of the person with --role or --right. "role list" lists the roles.'],
  ['user add ann --site 1001 --role author', 'The role author needs its folders: add --folder /PATH.'],
  ['user add ann --site 1001 --role viewer --folder /a', 'The role viewer has no folders: leave out --folder.'],
  ['user add ann --site 1001 --role viewer --right files:read', 'Give --role or --right, not both.'],
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
    'This token does not exist: it may be revoked or expired. "token list" lists all tokens.',
  ],
] as const

const largest = 2147483647

const areas = 'files, forms, categories, history, access'

/** Wrong usage of `site-admin`. */
export const wrongCommands = [
  ['bogus', usage.unknown("command 'bogus'")],
  ['site', 'Usage: site-admin site'],
  ['site create', "required option '--name <name>' not specified"],
  ['site create --name \u0007', 'without control characters'],
  [`site create --name ${'x'.repeat(201)}`, '1 to 200 characters'],
  ['site create --name A --id 0', 'It must be a whole number from 1.'],
  ['site create --name A --data-centre U$', 'lower-case letters'],
  ['site show', usage.missing],
  ['data-centre add Us --url http://a', 'lower-case letters'],
  ['data-centre add us --url ftp://a', 'http or https URL'],
  ['data-centre add us --url http://me:secret@a', 'http or https URL'],
  ['token issue --user ann', "required option '--site <id>' not specified"],
  ['token issue --user ann --site 1001 --permission root', usage.choices('files.')],
  ['token issue --user ann --site 1001 --ttl 0s', 'It must be a duration such as 30m'],
  ['token issue --user ann --site 1001 --ttl 31536001s', 'at most a year'],
  ['issuer add http://login.example.com --id a --audience b', 'It must be an https URL without a query'],
  ['issuer add http://localhost:4000 --id a --audience b', 'It must be an https URL without a query'],
  ['issuer add https://me:secret@login.example.com --id a --audience b', 'It must be an https URL without a query'],
  ['issuer add https://login.example.com?a=b --id a --audience b', 'It must be an https URL without a query'],
  ['issuer add https://login.example.com --id A --audience b', 'It must begin with a lower-case letter'],
  ['issuer add https://login.example.com --id a', "required option '--audience <audience>' not specified"],
  ['rule add --issuer a --site 1001 --role editor', "required option '--claim <name=value>' not specified"],
  ['rule add --issuer a --claim aud=b --site 1001 --role editor', 'A rule cannot use the claims iss'],
  ['rule add --issuer a --claim b --site 1001 --role editor', 'It must look like repository=acme/site'],
  ['rule add --issuer a --claim b=c --site 1001 --right files:read --ttl 61m', 'at most an hour'],
  ['rule add --issuer a --claim b=c --site 1001 --role author', usage.choices('owner, editor, viewer.')],
  ['category rename 2147483648 --site 1001 --name A', `It must be ${largest} or less.`],
  ['object list poem --site 1001', usage.choices('news, blog.')],
  ['object create news --site 1001 --members 7', 'It must be a JSON object'],
  ...['2-days', '0d'].map((span) => [`audit --site 1001 --since ${span}`, '30m, 4h, 2d'] as const),
  ['audit --site 1001 --type file.eaten', 'type of change'],
  ...['files', 'files:own', 'forms:read:/a', 'files:read:a', 'files:read:/a/../b'].map(
    (right) => [`token issue --user ann --site 1001 --right ${right}`, areas] as const,
  ),
  ['key create --site 1001 --name Robot --user bob --right files:own', areas],
  ['key create --site 1001 --name Robot --user bob --right files:read:/news --ttl 2y', 'at most a year'],
  ['user add ann --site 1001 --role director', usage.choices('owner, editor, author, viewer')],
  ...['a', '/a/../b'].map(
    (folder) => [`user add ann --site 1001 --role author --folder ${folder}`, 'a folder, such as /news.'] as const,
  ),
  ['user add ann --site 1001 --role viewer --email ann', 'It must be an e-mail address.'],
  ...['a/b', '\u0430nn', 'storage', 'x'.repeat(65)].map(
    (name) => [`user add ${name} --site 1001 --role viewer`, '1 to 64 letters, digits'] as const,
  ),
] as const

/** Wrong flags of `site-admin serve`. */
export const wrongFlags = [
  ['--port http', 'a number from 0 to 65535'],
  ['--port -1', 'a number from 0 to 65535'],
  ['--port 0 --data-centres us:0', usage.portOrDataCentres],
  ['--data-centres ', 'It must be a list of ids and ports, such as us:4000,eu:4001'],
  ['--data-centres us:0,us:0', 'Name each data centre only once'],
  ['--data-centres US:0', 'It must be a list of ids and ports, such as us:4000,eu:4001'],
  ['--data-centres us:65536', 'a number from 0 to 65535'],
  ['--host ', 'It must not be empty'],
  ['--base-url ftp://example.com', 'It must be a URL, or a list such as'],
  ['--base-url https://u:p@example.com', 'without a query and a password'],
  ['--base-url https://example.com?a=b', 'without a query and a password'],
  ['--base-url us=', 'It must be a URL, or a list such as'],
  ['--base-url us=https://us.example,us=https://us.example', 'Name each data centre only once'],
  ['--base-url eu=https://eu.example', '--base-url names the data centre eu, but --data-centres does not'],
  ['--base-url https://example.com --data-centres us:0,eu:0', 'With several data centres, --base-url must name each'],
  ['--tls-cert cert.pem', '--tls-cert and --tls-key belong together'],
  ['--tls-key key.pem', '--tls-cert and --tls-key belong together'],
  ['--metrics here', 'It must be a port, or an address with a port, such as 127.0.0.1:9464.'],
  ['--trust-proxy all', 'It must be an address or a block such as 10.0.0.0/8.'],
  ['--log xml', usage.choices('text, json')],
  ['extra', usage.tooMany],
] as const

/** Wrong usage of `site-files`. */
export const wrongFileCommands = [
  ...['cat', 'get', 'mv a', 'cp a', 'rm', 'restore', 'purge', 'versions', 'diff', 'push', 'pull', 'watch'].map(
    (line) => [line, usage.missing] as const,
  ),
  ['nope', usage.unknown("command 'nope'")],
  ['ls a b', usage.tooMany],
  ['put one', 'Name a file and a path'],
  ['completion fish', usage.choices('bash, zsh')],
  ['--site x ls', 'It must be the number of a site'],
  ['--url x ls', `${messages.client.noAddress('"x"')}. Use an address such as`],
  ['--url https://ann@example.com ls', messages.client.noAddress('')],
  ['push --deleet .', usage.unknown("option '--deleet'")],
  ['ls', 'Name the service with'],
  ['--url http://127.0.0.1:1 ls', messages.client.noToken],
  ['--url http://127.0.0.1:1 --token-file /dev/zero ls', 'too large for a token'],
] as const

const half = 'must not contain half of a character (a lone surrogate)'
const kinds = 'kind: must be one of category, news, blog, link, webForm, field'
const field = '{"kind":"field","webFormId":1,"typeId":-2'

/** Records that an import skips. */
export const badRecords = [
  ['{"kind":', record.notJson],
  ['7', record.notAnObject],
  ['[]', record.notAnObject],
  ['{}', kinds],
  ['{"kind":["webForm"],"id":1}', kinds],
  ['{"kind":"webForm","id":1,"__proto__":{"a":1}}', record.prototype],
  ['{"kind":"webForm"}', 'id: is missing. It must be a whole number'],
  ['{"kind":"webForm","id":0}', record.least('id')],
  ['{"kind":"webForm","id":1,"name":""}', 'name: must not be empty'],
  ['{"kind":"webForm","id":1,"name":"a\\u0000b"}', 'name: must not have control characters'],
  ['{"kind":"webForm","id":1,"name":"a\\ud800"}', `name: ${half}`],
  ['{"kind":"news","id":1,"body":"\\ud800"}', `body: ${half}`],
  ['{"kind":"webForm","id":1,"\\u001b[2J\\n":1}', http.unknownMember('"\\u001b[2J\\n"', 'id, name')],
  [`{"kind":"webForm","id":1,"name":"${'x'.repeat(201)}"}`, 'name: must have 200 characters or fewer'],
  [`${field},"name":"${'x'.repeat(81)}"}`, 'name: must have 80 characters or fewer'],
  ['{"kind":"news","id":1,"roleId":3000000000}', 'roleId: must be a whole number from -2147483648 to 2147483647'],
  ['{"kind":"blog","id":1,"createDate":7}', 'createDate: must be a date such as 2026-01-31 or 2026-01-31T12:00:00'],
  [
    '{"kind":"blog","id":1,"a":1,"b":1,"c":1,"d":1}',
    '"a", "b", "c" and 1 more are not known members. Known members: id, ',
  ],
  [
    '{"kind":"link","type":"news","categoryId":1,"objectId":1,"colour":"red"}',
    http.unknownMember('"colour"', 'type, categoryId, objectId, displayable'),
  ],
  [`${field},"colour":"red"}`, http.unknownMember('"colour"', 'webFormId, typeId, name, mandatory, order')],
  ['{"kind":"field","webFormId":9,"typeId":-2}', record.noForm],
  ['{"kind":"field","webFormId":1,"typeId":-1}', 'typeId: must be the number of a field type, such as -2'],
  [`${field},"order":0}`, record.least('order')],
  [`${field},"order":2147483648}`, `order: must be ${largest} or less`],
  ['{"kind":"webForm","id":1000000000000000}', 'id: must be 999999999999999 or less'],
  [`${field},"mandatory":1}`, 'mandatory: must be true or false'],
] as const
