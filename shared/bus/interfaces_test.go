package bus

import (
	"encoding/json"
	"errors"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/shared/network/leak"
)

func deleted() leak.Audit {
	at := time.Date(2026, 11, 20, 15, 15, 4, 0, time.UTC)
	return leak.Audit{
		Format: leak.AuditFormat, Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "eks-workshop",
		VPC: "vpc-0a1b2c3d4e5f60718", Subnet: "subnet-0b20000000000000a", Zone: "us-west-2a", Interface: "eni-0c1d2e3f4a5b60718",
		Owner: "i-0ef3c1b2a4d5968f1", Created: at.Add(-3 * time.Hour), First: at.Add(-30 * time.Minute), At: at, Result: leak.Deleted,
		IPs:      []netip.Addr{netip.MustParseAddr("10.42.101.20"), netip.MustParseAddr("10.42.101.21")},
		Prefixes: []netip.Prefix{netip.MustParsePrefix("10.42.101.32/28")},
		Run:      "b1c2d3e4-5f6a-7b8c-9d0e-1f2a3b4c5d6e", Request: "e1c6d73b-edaa-4e62-9909-6611404e1739",
	}
}

func interfaceSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../events/schema/rollcall-interface-deleted.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInterfaceSampleIsWhatIsSent(t *testing.T) {
	var e eventBridge
	if err := bus(t, &e).TellInterfaces(t.Context(), []leak.Event{deleted().Event()}); err != nil {
		t.Fatal(err)
	}
	p := e.calls[0][0]
	file := filepath.Join(samples, "interface-deleted.json")
	holdSample(t, file, envelope{
		Version: "0", ID: "1c1d2e3f-5f6a-7b8c-9d0e-1f2a3b4c5d6e", DetailType: p.DetailType, Source: p.Source, Account: "111122223333",
		Time: time.Unix(int64(p.Time), 0).UTC(), Region: "us-west-2", Resources: []string{}, Detail: json.RawMessage(p.Detail),
	})
	if p.EventBusName != "rollcall" || p.Source != "rollcall" || p.DetailType != "Rollcall Interface Deleted" {
		t.Errorf("entry for %q: %q from %q", p.EventBusName, p.DetailType, p.Source)
	}
	if err := interfaceSchema(t).Validate(parsed(t, file, "", "")); err != nil {
		t.Error(err)
	}
}

func TestInterfaceSchemaRefuses(t *testing.T) {
	s, file := interfaceSchema(t), filepath.Join(samples, "interface-deleted.json")
	for _, test := range []struct{ name, old, replacement string }{
		{"another source", `"source": "rollcall"`, `"source": "aws.ec2"`},
		{"an unknown field", `"run":`, `"rnu":`},
		{"no interface", `"eni-0c1d2e3f4a5b60718",`, `"",`},
		{"no instance", `"i-0ef3c1b2a4d5968f1"`, `""`},
		{"a count that is none", `"addresses": 18`, `"addresses": -1`},
	} {
		if s.Validate(parsed(t, file, test.old, test.replacement)) == nil {
			t.Errorf("%s: the schema takes it", test.name)
		}
	}
}

func TestTellInterfaces(t *testing.T) {
	var e eventBridge
	list := make([]leak.Event, 25)
	for i := range list {
		list[i] = deleted().Event()
	}
	if err := bus(t, &e).TellInterfaces(t.Context(), list); err != nil || len(e.calls) != 3 {
		t.Errorf("25 events in %d calls, %v", len(e.calls), err)
	}
	e = eventBridge{refuse: func(int, put) string { return "ThrottlingException" }}
	var refused *Refused
	if err := bus(t, &e).TellInterfaces(t.Context(), list[:2]); !errors.As(err, &refused) || refused.Failed != 2 {
		t.Errorf("error %v, want two refused", err)
	}
}
