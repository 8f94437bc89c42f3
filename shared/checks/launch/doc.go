// Package launch holds the checks of launch: what kept a group from launching.
package launch
