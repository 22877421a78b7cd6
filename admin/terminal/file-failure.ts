import { failureOf, reasonOf, type SystemFailure } from '../../lib/core/system-failures.ts'

type Reasons = ReadonlyMap<SystemFailure | undefined, string>

const ofReading: Reasons = new Map([
  ['missing', 'there is no such file. Check its path'],
  ['notFolder', 'there is no such file. Check its path'],
  ['isFolder', 'it is a directory. Name a file'],
  ['noRights', 'you lack the right. Run this as a user who may read it'],
])

const ofWriting: Reasons = new Map([
  ['missing', 'its folder does not exist. Create it first, or name another file'],
  ['notFolder', 'its folder does not exist. Create it first, or name another file'],
  ['isFolder', 'it is a directory. Name a file'],
  ['noRights', 'you lack the right. Name a file in a folder that you may write into'],
  ['readOnlyDisk', 'its file system is read-only. Name a file elsewhere'],
  ['full', 'its disk is full. Make room, or name a file elsewhere'],
])

const reasonIn = (reasons: Reasons, error: unknown): string => reasons.get(failureOf(error)) ?? reasonOf(error)

export const cannotBeRead = (file: string, error: unknown): string =>
  `${file} cannot be read: ${reasonIn(ofReading, error)}.`

export const cannotBeWritten = (file: string, error: unknown): string =>
  `${file} cannot be written: ${reasonIn(ofWriting, error)}.`
