// Light, dark, or what the system says.
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'toolmark-theme';
const ORDER: Theme[] = ['system', 'light', 'dark'];

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}

class ThemeChoice {
  value = $state<Theme>('system');

  start(): void {
    this.choose(stored());
  }

  choose(theme: Theme): void {
    this.value = theme;
    const root = document.documentElement;
    if (theme === 'system') delete root.dataset['theme'];
    else root.dataset['theme'] = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Without storage the choice lasts as long as the tab.
    }
  }

  next(): void {
    this.choose(ORDER[(ORDER.indexOf(this.value) + 1) % ORDER.length] ?? 'system');
  }
}

export const theme = new ThemeChoice();
