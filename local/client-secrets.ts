import { readFile } from 'node:fs/promises'
import type { MachineSettings } from '../lib/config/config.ts'
import { readClientSecrets } from '../lib/config/settings.ts'

/** the client secrets of issuers. A file is read for each sign-in, so a new secret needs no restart. */
export const createClientSecrets =
  ({ clientSecrets, clientSecretsFile: file }: Pick<MachineSettings, 'clientSecrets' | 'clientSecretsFile'>) =>
  async (issuer: string): Promise<string | undefined> => {
    if (file === undefined) return clientSecrets?.get(issuer)
    const place = `The file ${file} in CLIENT_SECRETS_FILE cannot be used: it `
    return readClientSecrets(await readFile(file, 'utf8'), place).get(issuer)
  }
