import { texts } from '../texts/texts.ts'

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

const isControl = (target: EventTarget | null): target is Control =>
  target instanceof HTMLElement && 'setCustomValidity' in target

const messageFor = ({ validity, title, labels }: Control): string => {
  const t = texts.value.validation
  const name = labels?.[0]?.textContent ?? ''
  if (validity.valueMissing) return t.missing(name)
  return validity.patternMismatch && title !== '' ? title : t.wrong(name)
}

/** Replaces the messages of the browser for invalid fields with messages in the language of the page. */
export const showOwnMessages = (): void => {
  // The message may belong to another radio button of the same group.
  const clear = ({ target }: Event) => {
    if (isControl(target))
      for (const each of target.form?.elements ?? [target]) if (isControl(each)) each.setCustomValidity('')
  }
  const explain = ({ target }: Event) => {
    if (!isControl(target)) return
    target.setCustomValidity('')
    target.setCustomValidity(messageFor(target))
  }
  addEventListener('input', clear, true)
  addEventListener('invalid', explain, true)
}
