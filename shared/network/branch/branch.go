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

// limits are the branch interfaces by type: a family, then its sizes. They come from
// github.com/aws/amazon-vpc-resource-controller-k8s, pkg/aws/vpc/limits.go, of commit
// b8d425119bdba371202882b808f202c6073a46cc.
const limits = `a1 medium=10 large=9 xlarge=18 2xlarge=38 4xlarge=54 metal=54
c1 medium=0 xlarge=0
c3 large=0 xlarge=0 2xlarge=0 4xlarge=0 8xlarge=0
c4 large=0 xlarge=0 2xlarge=0 4xlarge=0 8xlarge=0
c5 large=9 xlarge=18 2xlarge=38 4xlarge=54 9xlarge=54 12xlarge=54 18xlarge=107 24xlarge=107 metal=107
c5a large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107
c5ad large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107
c5d large=9 xlarge=18 2xlarge=38 4xlarge=54 9xlarge=54 12xlarge=54 18xlarge=107 24xlarge=107 metal=107
c5n large=9 xlarge=18 2xlarge=38 4xlarge=54 9xlarge=54 18xlarge=107 metal=107
c6a large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 48xlarge=107 metal=107
c6g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
c6gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
c6gn medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107
c6i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
c6id large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
c6in large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=106 metal=106
c7a medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 48xlarge=107 metal-48xl=107
c7g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
c7gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
c7gn medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
c7i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
c7i-flex large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=54 12xlarge=114 16xlarge=107
c8a medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 48xlarge=98 metal-24xl=106 metal-48xl=98
c8g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
c8gb medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=52 12xlarge=50 16xlarge=106 24xlarge=98 48xlarge=98
c8gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
c8gn medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=52 12xlarge=50 16xlarge=106 24xlarge=98 48xlarge=98
c8i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 96xlarge=98 metal-48xl=98
c8i metal-96xl=98
c8i-flex large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=52 12xlarge=110 16xlarge=106
c8id large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 96xlarge=98 metal-48xl=98
c8id metal-96xl=98
d2 xlarge=0 2xlarge=0 4xlarge=0 8xlarge=0
d3 xlarge=42 2xlarge=92 4xlarge=118 8xlarge=119
d3en xlarge=24 2xlarge=58 4xlarge=118 6xlarge=118 8xlarge=118 12xlarge=119
dl1 24xlarge=62
dl2q 24xlarge=107
f1 2xlarge=0 4xlarge=0 16xlarge=0
f2 6xlarge=84 12xlarge=114 48xlarge=107
g4ad xlarge=12 2xlarge=12 4xlarge=11 8xlarge=10 16xlarge=6
g4dn xlarge=39 2xlarge=39 4xlarge=59 8xlarge=58 12xlarge=54 16xlarge=118 metal=107
g5 xlarge=4 2xlarge=17 4xlarge=34 8xlarge=84 12xlarge=107 16xlarge=114 24xlarge=107 48xlarge=115
g5g xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 16xlarge=107 metal=107
g6 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 48xlarge=107
g6e xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=112 16xlarge=107 24xlarge=102 48xlarge=82
g6f large=10 xlarge=18 2xlarge=38 4xlarge=54
g7e 2xlarge=120 4xlarge=120 8xlarge=120 12xlarge=120 24xlarge=120 48xlarge=120
gr6 4xlarge=54 8xlarge=84
gr6f 4xlarge=54
h1 2xlarge=0 4xlarge=0 8xlarge=0 16xlarge=0
i2 xlarge=0 2xlarge=0 4xlarge=0 8xlarge=0
i3 large=0 xlarge=0 2xlarge=0 4xlarge=0 8xlarge=0 16xlarge=0 metal=120
i3en large=5 xlarge=12 2xlarge=28 3xlarge=38 6xlarge=54 12xlarge=54 24xlarge=107 metal=107
i4g large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 16xlarge=107
i4i large=0 xlarge=6 2xlarge=26 4xlarge=52 8xlarge=112 12xlarge=112 16xlarge=120 24xlarge=105 32xlarge=120 metal=120
i7i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=84 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
i7ie large=19 xlarge=27 2xlarge=27 3xlarge=27 6xlarge=54 12xlarge=54 18xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
i8g large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
i8ge large=19 xlarge=27 2xlarge=27 3xlarge=25 6xlarge=52 12xlarge=50 18xlarge=106 24xlarge=106 48xlarge=98 metal-24xl=106 metal-48xl=98
im4gn large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 16xlarge=107
inf1 xlarge=38 2xlarge=38 6xlarge=54 24xlarge=111
inf2 xlarge=18 8xlarge=84 24xlarge=107 48xlarge=107
is4gen medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54
m1 small=0 medium=0 large=0 xlarge=0
m2 xlarge=0 2xlarge=0 4xlarge=0
m3 medium=0 large=0 xlarge=0 2xlarge=0
m4 large=0 xlarge=0 2xlarge=0 4xlarge=0 10xlarge=0 16xlarge=0
m5 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=120
m5a large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107
m5ad large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107
m5d large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=107
m5dn large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=107
m5n large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=107
m5zn large=13 xlarge=29 2xlarge=62 3xlarge=92 6xlarge=114 12xlarge=107 metal=107
m6a large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 48xlarge=107 metal=107
m6g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
m6gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
m6i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
m6id large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
m6idn large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=106 metal=106
m6in large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=106 metal=106
m7a medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 48xlarge=107 metal-48xl=107
m7g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
m7gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
m7i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
m7i-flex large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=54 12xlarge=114 16xlarge=107
m8a medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 48xlarge=98 metal-24xl=106 metal-48xl=98
m8azn medium=3 large=8 xlarge=18 3xlarge=34 6xlarge=54 12xlarge=106 24xlarge=106 metal-12xl=106 metal-24xl=106
m8g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
m8gb medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=52 12xlarge=50 16xlarge=106 24xlarge=98 48xlarge=98
m8gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
m8gn medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=52 12xlarge=50 16xlarge=106 24xlarge=98 48xlarge=98
m8i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 96xlarge=98 metal-48xl=98
m8i metal-96xl=98
m8i-flex large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=52 12xlarge=110 16xlarge=106
m8id large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 96xlarge=98 metal-48xl=98
m8id metal-96xl=98
mac-m4 metal=6
mac-m4max metal=6
mac-m4pro metal=6
mac1 metal=6
mac2 metal=6
mac2-m1ultra metal=6
mac2-m2 metal=6
mac2-m2pro metal=6
p3 2xlarge=0 8xlarge=0 16xlarge=0
p3dn 24xlarge=107
p4d 24xlarge=62
p4de 24xlarge=62
p5 4xlarge=58 48xlarge=120
p5e 48xlarge=120
p5en 48xlarge=120
p6-b200 48xlarge=120
p6-b300 48xlarge=120
r3 large=0 xlarge=0 2xlarge=0 4xlarge=0 8xlarge=0
r4 large=0 xlarge=0 2xlarge=0 4xlarge=0 8xlarge=0 16xlarge=0
r5 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=120
r5a large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107
r5ad large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107
r5b large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=107
r5d large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=107
r5dn large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=107
r5n large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=107
r6a large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 48xlarge=107 metal=107
r6g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
r6gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
r6i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
r6id large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
r6idn large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=106 metal=106
r6in large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=106 metal=106
r7a medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 48xlarge=107 metal-48xl=107
r7g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
r7gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
r7i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
r7iz large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 32xlarge=107 metal-16xl=107 metal-32xl=107
r8a medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 48xlarge=98 metal-24xl=106 metal-48xl=98
r8g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
r8gb medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=52 12xlarge=50 16xlarge=106 24xlarge=98 48xlarge=98
r8gd medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
r8gn medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=52 12xlarge=50 16xlarge=106 24xlarge=98 48xlarge=98
r8i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 96xlarge=98 metal-48xl=98
r8i metal-96xl=98
r8i-flex large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=52 12xlarge=110 16xlarge=106
r8id large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 96xlarge=98 metal-48xl=98
r8id metal-96xl=98
t1 micro=0
t2 nano=0 micro=0 small=0 medium=0 large=0 xlarge=0 2xlarge=0
t3 nano=0 micro=0 small=0 medium=0 large=0 xlarge=0 2xlarge=0
t3a nano=0 micro=0 small=0 medium=0 large=0 xlarge=0 2xlarge=0
t4g nano=0 micro=0 small=0 medium=0 large=0 xlarge=0 2xlarge=0
trn1 2xlarge=17 32xlarge=82
trn1n 32xlarge=120
u-3tb1 56xlarge=6
u-6tb1 56xlarge=0 112xlarge=0
u7i-12tb 224xlarge=107
u7i-6tb 112xlarge=107
u7i-8tb 112xlarge=107
u7in-16tb 224xlarge=106
u7in-24tb 224xlarge=106
u7in-32tb 224xlarge=106
vt1 3xlarge=38 6xlarge=54 24xlarge=107
x1 16xlarge=0 32xlarge=0
x1e xlarge=0 2xlarge=0 4xlarge=0 8xlarge=0 16xlarge=0 32xlarge=0
x2gd medium=10 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
x2idn 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
x2iedn xlarge=11 2xlarge=27 4xlarge=54 8xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
x2iezn 2xlarge=62 4xlarge=114 6xlarge=114 8xlarge=114 12xlarge=107 metal=107
x8aedz large=8 xlarge=18 3xlarge=34 6xlarge=54 12xlarge=106 24xlarge=106 metal-12xl=106 metal-24xl=106
x8g medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 48xlarge=107 metal-24xl=107 metal-48xl=107
x8i large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 64xlarge=98 96xlarge=98
x8i metal-48xl=98 metal-96xl=98
z1d large=13 xlarge=28 2xlarge=58 3xlarge=54 6xlarge=54 12xlarge=107 metal=107`
