import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A key and its self-signed certificate for 127.0.0.1, as text. `name` is the common name. */
export const makeCertificate = (directory: string, name: string, ...flags: readonly string[]) => {
  const folder = mkdtempSync(join(directory, 'certificate-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-days', '2']
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  const protection = flags.length > 0 ? flags : ['-nodes']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...protection, '-keyout', key, '-out', cert], {
    stdio: 'pipe',
  })
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}
