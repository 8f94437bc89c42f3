// Package ip holds the checks of ip: addresses.
package ip
