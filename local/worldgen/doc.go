// Package worldgen generates worlds for property tests: healthy clusters of
// many shapes out of a seed, and single faults that break them. What a world
// is made of is written here apart from the checks that judge it: a healthy
// one in which a check fails, or a fault that another check names, is a
// contradiction in which one of the two is wrong.
package worldgen
