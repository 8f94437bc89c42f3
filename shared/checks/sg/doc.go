// Package sg holds the checks of sg: what security groups let through.
package sg
