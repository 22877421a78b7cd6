import { refuseUnreachable } from '../parts/failure.tsx'
import { MenuButton, type MenuItem } from '../parts/menu.tsx'
import { notifyFailure } from '../parts/toasts.tsx'
import { isLanguage, language, languageNames, texts } from '../texts/texts.ts'
import { chooseLanguage, chooseTheme, theme, themes } from './preferences.ts'

interface SettingsMenuProps {
  readonly onAccount?: () => void
  readonly onSignOut?: () => void
}

export const SettingsMenu = ({ onAccount, onSignOut }: SettingsMenuProps) => {
  const t = texts.value.shell
  const items: readonly MenuItem[] = [
    ...themes.map((each) => ({
      label: t.themes[each],
      isChosen: theme.value === each,
      run: () => chooseTheme(each),
    })),
    ...Object.entries(languageNames).map(([tag, label], index) => ({
      label,
      hasSeparator: index === 0,
      isChosen: language.value === tag,
      run: () => {
        if (isLanguage(tag))
          chooseLanguage(tag)
            .catch(refuseUnreachable)
            .catch((error: unknown) => notifyFailure('', error))
      },
    })),
    { label: t.reference, icon: 'link', hasSeparator: true, run: () => open('docs', '_blank', 'noopener') },
    ...(onAccount ? [{ label: t.account, icon: 'person' as const, run: onAccount }] : []),
    ...(onSignOut ? [{ label: texts.value.signIn.signOut, icon: 'signOut' as const, run: onSignOut }] : []),
  ]
  return (
    <MenuButton label={t.settings} icon="settings" items={items}>
      <span class="settings-label">{t.settings}</span>
    </MenuButton>
  )
}
