import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { Server as SecureServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import { reasonOf } from '../lib/core/system-failures.ts'
import type { Handler } from '../lib/http/request.ts'
import { UsageError } from '../lib/machine/directory/faults.ts'
import { createSecureServer, type Front } from '../server/server.ts'

interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

// In bytes.
const largestFile = 1024 * 1024

const attempt = <Value>(read: () => Value, sentence: (reason: string) => string): Value => {
  try {
    return read()
  } catch (error) {
    throw new UsageError(sentence(reasonOf(error)), { cause: error })
  }
}

const readText = (file: string, what: string, flag: string): string =>
  attempt(
    () => {
      const stats = statSync(file)
      if (!stats.isFile()) throw new Error('it is not a file')
      if (stats.size > largestFile) throw new Error('it is larger than 1 MiB')
      return readFileSync(file, 'utf8')
    },
    (reason) => `The ${what} ${file} (${flag}) cannot be read: ${reason}. Check the path and its access rights.`,
  )

const blocks = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g

const isCut = (pem: string): boolean => pem.replace(blocks, '').includes('-----')

// Throws UsageError for files that cannot be read, are incomplete, or do not belong together.
const readCertificate = (files: CertificateFiles) => {
  const cert = readText(files.cert, 'certificate', '--tls-cert')
  const key = readText(files.key, 'private key', '--tls-key')
  const noCertificate = `The file ${files.cert} (--tls-cert) has no complete certificate in PEM form.`
  if (isCut(cert)) throw new UsageError(noCertificate)
  const first = attempt(
    () => new X509Certificate(cert),
    () => noCertificate,
  )
  const privateKey = attempt(
    () => createPrivateKey(key),
    () => `The file ${files.key} (--tls-key) has no complete private key in PEM form without a passphrase.`,
  )
  if (!first.checkPrivateKey(privateKey)) {
    throw new UsageError(`The private key ${files.key} does not belong to the certificate ${files.cert}.`)
  }
  attempt(
    () => createSecureContext({ cert, key }),
    (reason) => `The certificate ${files.cert} cannot be used: ${reason}.`,
  )
  return { cert, key, expires: first.validToDate.toISOString() }
}

// The state of a file. It differs after every change, and after another file has taken the name.
const stateOf = (file: string): string => {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(file)
    return [dev, ino, size, mtimeMs, ctimeMs].join()
  } catch (error) {
    return reasonOf(error)
  }
}

// In milliseconds. The service polls the files, because watching folders would miss files behind symbolic links.
const interval = 1_000

/**
 * Servers over TLS. They use a changed certificate within seconds. While the files have no valid certificate, the old
 * one stays in use. Throws UsageError as `readCertificate` does.
 */
export const openTls = (files: CertificateFiles, say: (sentence: string) => void) => {
  const servers: SecureServer[] = []
  let current = readCertificate(files)
  let seen = ''

  const look = (): void => {
    const state = `${stateOf(files.cert)}|${stateOf(files.key)}`
    if (state === seen) return
    seen = state
    try {
      const certificate = readCertificate(files)
      if (certificate.cert === current.cert && certificate.key === current.key) return
      for (const server of servers) server.setSecureContext(certificate)
      current = certificate
      say(`The new certificate ${files.cert} is in use. It expires on ${certificate.expires.slice(0, 10)}.`)
    } catch (error) {
      say(`The old certificate stays in use. ${reasonOf(error)}`)
    }
  }

  const timer = setInterval(look, interval).unref()
  return {
    createServer(handlerFor: (path: string) => Handler, front: Front): SecureServer {
      const server = createSecureServer(current, handlerFor, front)
      servers.push(server)
      return server
    },
    close: () => clearInterval(timer),
  }
}
