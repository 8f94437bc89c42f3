// Package press presses the buttons of the Slack stand-in's page as a
// person does: with a real browser, which draws the page, is clicked, and is
// asked whether it is sure. It is built with the tag chromium only, because it
// needs a Chromium on this machine (Debian: apt-get install chromium).
package press
