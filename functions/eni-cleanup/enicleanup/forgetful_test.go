package enicleanup

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// forgetful answers nothing where interfaces are asked for by their ids.
type forgetful struct{ next http.RoundTripper }

func (f forgetful) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		return f.next.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	if text := string(body); !strings.Contains(text, "Action=DescribeNetworkInterfaces") || !strings.Contains(text, "network-interface-id") {
		return f.next.RoundTrip(req)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`<DescribeNetworkInterfacesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId><networkInterfaceSet/></DescribeNetworkInterfacesResponse>`)),
	}, nil
}

// TestForgetful: what the look has just seen is not taken for deleted because a
// second answer leaves it out. An audit record is for ever.
func TestForgetful(t *testing.T) {
	s := open(t, stagetest.Options{})
	there := s.make(s.left())
	s.sweep()
	store := s.Store.At(s.Now)
	sightings, err := store.Sightings(t.Context(), vpc)
	if err != nil || len(sightings) != 1 {
		t.Fatalf("%d sightings, %v", len(sightings), err)
	}
	// Another run wrote ahead, and ended before it sent the request.
	x := sightings[there]
	draft := leak.Draft(leak.Verdict{Interface: snapshot.Interface{ID: there, VPC: vpc, Subnet: subnet, Account: s.Template.AccountID}, Owner: dead, Cluster: stagetest.Cluster}, x, "another", s.Now())
	x.Deleting = &draft
	if _, err := store.SaveSighting(t.Context(), vpc, x); err != nil {
		t.Fatal(err)
	}
	s.Advance(leak.Lease + time.Minute)
	transport := s.HTTPClient().Transport
	if _, err := handlerOf(s.Env(), forgetful{transport})(t.Context(), s.Sweep()); err != nil {
		t.Fatal(err)
	}
	if list := s.audits(); len(list) > 0 || !s.there(there) {
		t.Fatalf("it is there: %v, and the records say %+v", s.there(there), list)
	}
	s.Advance(cadence)
	s.sweep()
	if list := s.audits(); len(list) != 1 || list[0].Settled || list[0].Run == "another" || s.there(there) {
		t.Errorf("records %+v; want the delete of the run that did it", list)
	}
}
