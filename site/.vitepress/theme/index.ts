// Fonts are those of the system: a page asks no other host, and the first one stays small.
import theme from 'vitepress/theme-without-fonts';
import './style.css';
import './home.css';

export default theme;
