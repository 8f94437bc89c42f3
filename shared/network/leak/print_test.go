package leak

import (
	"net/netip"
	"slices"
	"testing"

	"rollcall/shared/snapshot"
)

func TestPrint(t *testing.T) {
	same := left()
	slices.Reverse(same.PrivateIPs)
	if Print(same) != Print(left()) {
		t.Error("the order of addresses changes the print")
	}
	if n := len(Print(left())); n != 32 {
		t.Errorf("a print of %d digits, want 32: prints that are remembered would not fit", n)
	}
	for name, two := range map[string]func(i *snapshot.Interface, first, second int){
		"prefixes": func(i *snapshot.Interface, first, second int) {
			list := []netip.Prefix{netip.MustParsePrefix("10.42.2.0/28"), netip.MustParsePrefix("10.42.3.0/28")}
			i.Prefixes = []netip.Prefix{list[first], list[second]}
		},
		"prefixes of one address": func(i *snapshot.Interface, first, second int) {
			list := []netip.Prefix{netip.MustParsePrefix("10.42.0.0/28"), netip.MustParsePrefix("10.42.0.0/24")}
			i.Prefixes = []netip.Prefix{list[first], list[second]}
		},
		"IPv6 addresses": func(i *snapshot.Interface, first, second int) {
			list := []netip.Addr{netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")}
			i.IPv6 = []netip.Addr{list[first], list[second]}
		},
		"groups": func(i *snapshot.Interface, first, second int) {
			list := []string{"sg-1", "sg-2"}
			i.Groups = []string{list[first], list[second]}
		},
	} {
		one, other := left(), left()
		two(&one, 0, 1)
		two(&other, 1, 0)
		if Print(one) != Print(other) {
			t.Errorf("the order of %s changes the print", name)
		}
	}
	seen := map[string]string{Print(left()): "as it was"}
	for name, change := range map[string]func(*snapshot.Interface){
		"description":   func(i *snapshot.Interface) { i.Description += "x" },
		"creator":       func(i *snapshot.Interface) { i.Tags[TagInstance] = "i-0d0000000000000a1" },
		"date":          func(i *snapshot.Interface) { i.Tags[TagCreated] = "2026-11-20T14:00:01Z" },
		"cluster":       func(i *snapshot.Interface) { delete(i.Tags, TagCluster) },
		"another tag":   func(i *snapshot.Interface) { i.Tags["keep"] = "" },
		"subnet":        func(i *snapshot.Interface) { i.Subnet = "subnet-1" },
		"an address":    func(i *snapshot.Interface) { i.PrivateIPs = i.PrivateIPs[:1] },
		"a prefix":      func(i *snapshot.Interface) { i.Prefixes = []netip.Prefix{netip.MustParsePrefix("10.42.2.0/28")} },
		"an IPv6":       func(i *snapshot.Interface) { i.IPv6 = []netip.Addr{netip.MustParseAddr("fd00::1")} },
		"a group":       func(i *snapshot.Interface) { i.Groups = []string{"sg-1"} },
		"public":        func(i *snapshot.Interface) { i.PublicIP = netip.MustParseAddr("203.0.113.9") },
		"source check":  func(i *snapshot.Interface) { i.SourceCheck = false },
		"account":       func(i *snapshot.Interface) { i.Account = "999988887777" },
		"VPC":           func(i *snapshot.Interface) { i.VPC = "vpc-0ffffffffffffffff" },
		"kind":          func(i *snapshot.Interface) { i.Kind = "trunk" },
		"AWS's own now": func(i *snapshot.Interface) { i.RequesterManaged = true },
		"another":       func(i *snapshot.Interface) { i.ID = "eni-2" },
		"a tag's parts": func(i *snapshot.Interface) { i.Tags = map[string]string{TagInstance + owner: ""} },
	} {
		i := left()
		change(&i)
		if other, twice := seen[Print(i)]; twice {
			t.Errorf("%s: the same print as %s", name, other)
		}
		seen[Print(i)] = name
	}
	// The status is asked each time.
	i := left()
	i.Status = "in-use"
	if Print(i) != Print(left()) {
		t.Error("the status is in the print")
	}
}

func TestConfirm(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*snapshot.Interface)
		want   Reason
	}{
		{"as it was", func(*snapshot.Interface) {}, Leaked},
		{"attached meanwhile", func(i *snapshot.Interface) { i.Status, i.Attached, i.Instance = "in-use", true, "i-1" }, InUse},
		{"being attached", func(i *snapshot.Interface) { i.Attached = true }, InUse},
		{"on an instance", func(i *snapshot.Interface) { i.Instance = "i-1" }, InUse},
		{"tagged meanwhile", func(i *snapshot.Interface) { i.Tags["owner"] = "me" }, Changed},
		{"described otherwise", func(i *snapshot.Interface) { i.Description = "mine now" }, Changed},
		{"given another address", func(i *snapshot.Interface) { i.PrivateIPs = nil }, Changed},
		{"another interface", func(i *snapshot.Interface) { i.ID = "eni-2" }, Changed},
		{"half an answer", func(i *snapshot.Interface) { *i = snapshot.Interface{ID: i.ID} }, InUse},
	} {
		again := left()
		test.change(&again)
		if got := Confirm(&again, Judge(left(), ground())); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := Confirm(nil, Judge(left(), ground())); got != Gone {
		t.Errorf("not there: %q", got)
	}
	again, v := left(), Judge(left(), ground())
	v.Why = OverCap
	if got := Confirm(&again, v); got != OverCap {
		t.Errorf("what was held is %q when described again", got)
	}
}
