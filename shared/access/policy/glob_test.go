package policy

import "testing"

func TestMatches(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true},
		{"*", "anything", true},
		{"", "", true},
		{"", "x", false},
		{"ec2:Describe*", "ec2:DescribeInstances", true},
		{"ec2:*Instances", "ec2:DescribeInstances", true},
		{"ec2:Describe*", "ec2:CreateTags", false},
		{"ec2:?escribeTags", "ec2:DescribeTags", true},
		{"a?", "a", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbYbZ", false},
	}
	for _, tt := range tests {
		if got := matches(tt.pattern, tt.text); got != tt.want {
			t.Errorf("matches(%q, %q) = %t, want %t", tt.pattern, tt.text, got, tt.want)
		}
	}
}

func TestAbout(t *testing.T) {
	const eni, enis = "arn:aws:ec2:us-west-2:1:network-interface/eni-1", "arn:aws:ec2:us-west-2:1:network-interface/*"
	tests := []struct {
		pattern, resource string
		want              truth
	}{
		{"*", eni, yes},
		{"*", "*", yes},
		{"*", Unscoped, yes},
		{"**", Unscoped, yes},
		{enis, Unscoped, no},
		{"arn:aws:ec2:*:*:*", Unscoped, no},
		{enis, eni, yes},
		{enis, enis, yes},
		{"arn:aws:ec2:*:*:network-interface/*", enis, yes},
		{eni, enis, maybe},
		{eni, "*", maybe},
		{"arn:aws:ec2:*:*:subnet/*", enis, no},
		{"arn:aws:ec2:eu-*:*:*", eni, no},
		{"arn:aws:ec2:${aws:RequestedRegion}:1:*", eni, maybe},
		{"arn:aws:s3:${x}", eni, no},
		{"arn:aws:ec2:us-west-2:1:${open", eni, maybe},
	}
	for _, tt := range tests {
		if got := about(tt.pattern, tt.resource); got != tt.want {
			t.Errorf("about(%q, %q) = %d, want %d", tt.pattern, tt.resource, got, tt.want)
		}
	}
}

// What covers says of two patterns is true of every text.
func FuzzPatterns(f *testing.F) {
	f.Add("arn:*:x", "arn:a*:x", "arn:ab:x")
	f.Add("a?*", "a*?", "abc")
	f.Add("*?*", "?", "b")
	f.Fuzz(func(t *testing.T, p, q, text string) {
		if covers(p, q, true) && matches(q, text) && !matches(p, text) {
			t.Errorf("%q covers %q, and only the second matches %q", p, q, text)
		}
		if matches(p, text) && matches(q, text) && !overlap(p, q) {
			t.Errorf("%q and %q match %q and do not overlap", p, q, text)
		}
		if overlap(p, q) != overlap(q, p) {
			t.Errorf("overlap of %q and %q depends on the order", p, q)
		}
	})
}
