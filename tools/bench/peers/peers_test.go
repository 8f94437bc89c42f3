package main

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/network/leak"
	"rollcall/tools/expect"
)

func TestPageIsFresh(t *testing.T) {
	text, err := os.ReadFile("../../../docs/interfaces.md")
	expect.OK(t, err)
	if diff := cmp.Diff(string(text), page(build(seed, start()), start())); diff != "" {
		t.Errorf("docs/interfaces.md is stale (-page +now):\n%s", diff)
	}
}

// In no world does Rollcall delete what lives, or keep what is left behind.
func TestOursIsRightInEveryWorld(t *testing.T) {
	for seed := range uint64(200) {
		world := build(seed, start())
		if len(world) != 500 {
			t.Fatalf("%d interfaces, want 500", len(world))
		}
		for _, s := range scores(rollcall(world, start()), world, start()) {
			if s.Wrong != 0 || s.Left != 0 || s.Refused != 0 {
				t.Errorf("seed %d, %s: %d wrongly deleted, %d wrongly kept, %d refused", seed, s.Rule.Name, s.Wrong, s.Left, s.Refused)
			}
		}
	}
}

// What each peer gets wrong is there to see, and does not come from chance.
func TestPeers(t *testing.T) {
	type result struct{ Wrong, Left, Unsure, Refused int }
	got := map[string]result{}
	for _, s := range scores(rules(), build(seed, start()), start()) {
		got[s.Rule.Name] = result{s.Wrong, s.Left, s.Unsure, s.Refused}
	}
	for name, want := range map[string]struct{ wrong, left func(int) bool }{
		"VPC CNI, with CLUSTER_NAME": {some, none}, "VPC CNI, without": {some, none}, "VPC resource controller": {some, none},
		"Cilium operator": {none, all}, "eksctl": {some, none}, "Config remediation": {some, none}, "the story's script": {some, none},
		"cloud-nuke": {some, none}, "aws-nuke": {some, none},
	} {
		if g := got[name]; !want.wrong(g.Wrong) || !want.left(g.Left) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if len(got) != len(rules()) {
		t.Errorf("%d peers, want %d", len(got), len(rules()))
	}
}

func none(n int) bool { return n == 0 }
func some(n int) bool { return n > 0 }
func all(n int) bool  { return n == 100 }

// The rules, each by what its source says of single cases.
func TestRulesOfPeers(t *testing.T) {
	m := &maker{rng: rand.New(rand.NewPCG(1, 1)), now: start()}
	fresh := func(age time.Duration, change func(*Item)) Item {
		var i Item
		m.made(&i, prod, age)
		if change != nil {
			change(&i)
		}
		return i
	}
	tests := []struct {
		name string
		rule string
		item Item
		want bool
	}{
		{"younger than its grace", "VPC CNI, with CLUSTER_NAME", fresh(4*time.Minute, nil), false},
		{"older, though the node lives", "VPC CNI, with CLUSTER_NAME", fresh(6*time.Minute, nil), true},
		{"no date", "VPC CNI, with CLUSTER_NAME", fresh(time.Hour, func(i *Item) { i.untag(leak.TagCreated) }), false},
		{"no date that can be read", "VPC CNI, with CLUSTER_NAME", fresh(time.Second, func(i *Item) { i.tag(leak.TagCreated, "x") }), true},
		{"another cluster's", "VPC CNI, with CLUSTER_NAME", fresh(time.Hour, func(i *Item) { i.tag(leak.TagCluster, payments) }), false},
		{"another cluster's", "VPC CNI, without", fresh(time.Hour, func(i *Item) { i.tag(leak.TagCluster, payments) }), true},
		{"a small k8s", "VPC CNI, without", fresh(time.Hour, func(i *Item) { i.Now.Description = "aws-k8s-branch-eni" }), false},
		{"seen twice", "VPC resource controller", fresh(time.Hour, nil), true},
		{"seen once", "VPC resource controller", fresh(time.Hour, func(i *Item) { i.attach(&i.Later) }), false},
		{"no cluster", "VPC resource controller", fresh(time.Hour, func(i *Item) { i.untag(leak.TagCluster) }), false},
		{"a moment old", "the story's script", fresh(time.Second, nil), true},
		{"attached", "the story's script", fresh(time.Hour, func(i *Item) { i.attach(&i.Now) }), false},
		{"another group", "eksctl", fresh(time.Hour, func(i *Item) { i.Group = "eks-cluster-sg-prod" }), false},
		{"a moment old", "eksctl", fresh(time.Second, nil), true},
	}
	for _, tt := range tests {
		for _, r := range rules() {
			if r.Name == tt.rule && r.Deletes(tt.item, start()) != tt.want {
				t.Errorf("%s, %s: deletes %t, want %t", tt.rule, tt.name, !tt.want, tt.want)
			}
		}
	}
}
