// Package branch is what an instance type carries of branch network interfaces: the
// interfaces that pods with security groups of their own have, all of one node over
// its trunk interface (EKS user guide, "Assign security groups to individual Pods").
package branch

import (
	"strconv"
	"strings"
)

// Resource is what a pod asks for that is to have a branch interface, and a node's
// capacity of them; a pod that has one says which in an annotation of that name
// (amazon-vpc-resource-controller-k8s pkg/config/type.go, ResourceNamePodENI).
const Resource = "vpc.amazonaws.com/pod-eni"

// AsOf is the day on which AWS made the table.
const AsOf = "2026-03-20"

// Types are the families and sizes of the table.
func Types() (list [][2]string) {
	for line := range strings.Lines(limits) {
		words := strings.Fields(line)
		for i := 1; i < len(words); i++ {
			size, _, _ := strings.Cut(words[i], "=")
			list = append(list, [2]string{words[0], size})
		}
	}
	return list
}

// Limit is how many branch interfaces an instance of a type carries; 0 for a type
// that has no trunk. No API of EC2 tells: the numbers are those of the controller
// that makes them (amazon-vpc-resource-controller-k8s pkg/aws/vpc/limits.go, which
// AWS generates). Of a type that it does not know nothing is known here either.
func Limit(kind string) (n int, known bool) {
	family, size, _ := strings.Cut(kind, ".")
	for line := range strings.Lines(limits) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != family {
			continue
		}
		for _, word := range words[1:] {
			if name, text, _ := strings.Cut(word, "="); name == size {
				n, err := strconv.Atoi(text)
				return n, err == nil
			}
		}
	}
	return 0, false
}
