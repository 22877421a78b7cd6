import { ServiceError } from '../core/errors.ts'

const [fewest, most] = [12, 256]
const shortestName = 3

const weak = (reason: string): ServiceError =>
  new ServiceError('passwordWeak', { message: `The password ${reason}. Choose another password.` })

/** `names` has the name of the person and the names of the person's sites. Errors: passwordWeak. */
export const checkPassword = (password: string, names: readonly string[]): void => {
  const text = password.normalize('NFC')
  const length = [...text].length
  if (length < fewest) throw weak(`has fewer than ${fewest} characters`)
  if (length > most) throw weak(`has more than ${most} characters`)
  const lower = text.toLowerCase()
  const isIn = (name: string) => [...name].length >= shortestName && lower.includes(name.toLowerCase())
  if (names.map((name) => name.normalize('NFC')).some(isIn)) throw weak('contains the name of the person or of a site')
}
