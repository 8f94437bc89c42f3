package vpccni

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestOfImage(t *testing.T) {
	for image, want := range map[string]string{
		"602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.22.1-eksbuild.2": "v1.22.1", "amazon-k8s-cni:v1.9.0@sha256:0a": "v1.9.0", "cni:v1.20.4": "v1.20.4",
		"cni:latest": "", "cni@sha256:0a": "", "cni:v1.22": "", "cni:v1.x.0": "", "cni:v1.-2.0": "",
	} {
		v, ok := OfImage(image)
		if got := v.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %s, %t", image, got, ok)
		}
	}
}

// TestReleases holds that the data is whole: releases in order, each with more types
// than the first ones had, and a date.
func TestReleases(t *testing.T) {
	r := ReadReleases()
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil || r.Sum == "" || len(r.tables) < 10 {
		t.Fatalf("newest %s of %q, %q, %d tables", r.Newest, r.Date, r.Sum, len(r.tables))
	}
	if !slices.IsSortedFunc(r.tables, func(a, b table) int { return slices.Compare(a.version[:], b.version[:]) }) || r.tables[len(r.tables)-1].version != r.Newest {
		t.Error("the releases are not in order, or the newest is not the last")
	}
	if first, last := len(r.tables[0].types), len(r.tables[len(r.tables)-1].types); first != 416 || last < 1300 {
		t.Errorf("%d types in the first and %d in the last", first, last)
	}
}

func TestKnow(t *testing.T) {
	r := ReadReleases()
	for _, tt := range []struct {
		version, kind string
		knows, told   bool
	}{
		{"v1.20.4", "m5.large", true, true}, {"v1.20.4", "c9g.large", false, true}, {"v1.23.0", "c9g.large", true, true}, {"v1.9.1", "c6a.large", false, true},
		{"v1.20.0", "c8a.large", false, true}, // not in 1.20.4 either
		{"v1.21.0", "c8a.large", false, false}, {"v1.21.0", "m5.large", true, true}, {"v1.8.0", "m5.large", false, false},
		{"v1.99.0", "m5.large", true, true}, {"v1.99.0", "z99.large", false, false},
	} {
		v, _ := parse(tt.version)
		knows, told := r.Know(v, tt.kind)
		if told != tt.told || told && knows != tt.knows {
			t.Errorf("%s and %s: got %t, %t", tt.version, tt.kind, knows, told)
		}
	}
}

func TestRules(t *testing.T) {
	if _, err := time.Parse(time.DateOnly, Read); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		version Version
		minor   int
		os      string
		want    []int
	}{
		{Version{1, 11, 5}, 26, "AL2", []int{0}}, {Version{1, 11, 5}, 25, "AL2", nil}, {Version{1, 12, 0}, 34, "AL2", nil}, {Version{1, 16, 1}, 23, "AL2", []int{1}},
		{Version{1, 16, 1}, 24, "AL2", nil}, {Version{1, 16, 2}, 23, "AL2", nil}, {Version{1, 15, 9}, 23, "AL2", nil}, {Version{1, 16, 1}, 30, "AL2023", []int{2}},
		{Version{1, 16, 2}, 30, "AL2023", nil}, {Version{1, 11, 0}, 30, "AL2023", []int{0, 2}}, {Version{1, 20, 4}, 34, "AL2023", nil},
	} {
		var got []int
		for i, r := range Rules() {
			if r.Against(tt.version, tt.minor, tt.os) {
				got = append(got, i)
			}
			if r.What == "" || r.Source == "" || r.To == (Version{}) {
				t.Errorf("rule %d is not whole", i)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s beside 1.%d on %s: got %v, want %v", tt.version, tt.minor, tt.os, got, tt.want)
		}
	}
}

func TestMinor(t *testing.T) {
	for text, want := range map[string]int{"1.34": 34, "v1.34.1-eks-113cf36": 34, "1.26+": 26, "2.1": 0, "": 0, "1.": 0, "1.99999999999999999999": 0} {
		if got := Minor(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}
