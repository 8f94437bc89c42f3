// Package preflight judges what does not exist yet: a nodegroup, a version of a launch
// template, a NodePool with its class, a subnet. It puts the nodes that would be launched into a snapshot, as nodes that have missed their roll call,
// and asks the checks of every launch: there is no second set of rules. What
// only AWS refuses when the thing is made is said too (refusals.go), each with
// its source. It decides; package live reads.
package preflight
