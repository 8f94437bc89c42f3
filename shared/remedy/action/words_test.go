package action

import "testing"

func TestLists(t *testing.T) {
	six := []string{"a", "b", "c", "d", "e", "f"}
	for _, test := range []struct {
		n        int
		and, few string
	}{
		{0, "", ""}, {1, "a", "a"}, {2, "a and b", "a and b"}, {3, "a, b and c", "a, b and c"},
		{5, "a, b, c, d and e", "a, b, c, d and e"}, {6, "a, b, c, d, e and f", "a, b, c, d, e, …: 6 things"},
	} {
		if got := And(six[:test.n]); got != test.and {
			t.Errorf("and of %d: %q, want %q", test.n, got, test.and)
		}
		if got := Few(six[:test.n], "thing"); got != test.few {
			t.Errorf("few of %d: %q, want %q", test.n, got, test.few)
		}
	}
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		n          int
		what, want string
	}{
		{0, "instance", "0 instances"}, {1, "instance", "1 instance"}, {2, "instance", "2 instances"},
		{1, "address", "1 address"}, {2, "address", "2 addresses"}, {2, "subnet", "2 subnets"}, {2, "host", "2 hosts"},
	} {
		if got := Count(test.n, test.what); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// Each word is one, whatever is in it.
func TestAWS(t *testing.T) {
	got := Place{Region: "us-west-2"}.AWS("ec2 create-route", "--route-table-id", "rtb-0a; rm", []string{"--dry-run"}, 3)
	if want := "aws ec2 create-route --region us-west-2 --route-table-id 'rtb-0a; rm' --dry-run 3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
