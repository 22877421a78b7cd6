import { Dialog } from '../parts/dialog.tsx'
import { setter } from '../parts/setter.ts'
import { texts } from '../texts/texts.ts'
import { useFiles } from './files-context.ts'

export const ShortcutsDialog = () => {
  const { store } = useFiles()
  const t = texts.value.files
  const shortcuts = [
    ['↑ ↓', t.shortcutTexts.move],
    [t.keys.range, t.shortcutTexts.range],
    [t.keys.all, t.shortcutTexts.all],
    [t.keys.open, `${t.open}, ${t.details}`],
    [t.keys.up, t.shortcutTexts.up],
    ['F2', t.rename],
    [t.keys.remove, t.remove],
    [t.keys.cutAndCopy, t.shortcutTexts.hold],
    [t.keys.paste, t.paste],
    ['Esc', t.clearSelection],
    ['?', t.shortcuts],
  ]
  return (
    <Dialog title={t.shortcuts} onClose={setter(store.dialog, undefined)}>
      <div class="dialog-body">
        <dl class="facts">
          {shortcuts.map(([keys = '', effect = '']) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{effect.replace(/\s?…$/, '')}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  )
}
