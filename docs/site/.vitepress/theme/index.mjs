// The default theme in the reader's own fonts: nothing is loaded from elsewhere.
import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
