package route53

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/tools/expect"
)

// client returns a client whose requests are answered in turn, and the requests.
func client(t *testing.T, status int, bodies ...string) (*Client, *[]string) {
	t.Helper()
	var requests []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, bodies[len(requests)])
		requests = append(requests, r.Method+" "+r.URL.RequestURI())
	}))
	t.Cleanup(s.Close)
	return New(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &s.URL, Credentials: credentials.NewStaticCredentialsProvider("AKIA", "secret", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	}), &requests
}

func TestZones(t *testing.T) {
	c, requests := client(t, 200, `<?xml version="1.0"?>
<ListHostedZonesByVPCResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><HostedZoneSummaries>
<HostedZoneSummary><HostedZoneId>Z1</HostedZoneId><Name>example.com.</Name><Owner><OwningAccount>111122223333</OwningAccount></Owner></HostedZoneSummary>
<HostedZoneSummary><HostedZoneId>Z2</HostedZoneId><Name>sts.eu-west-1.amazonaws.com.</Name><Owner><OwningService>vpce.amazonaws.com</OwningService></Owner></HostedZoneSummary>
</HostedZoneSummaries><MaxItems>100</MaxItems><NextToken>t=2</NextToken></ListHostedZonesByVPCResponse>`)
	got, next, err := c.Zones(t.Context(), "vpc-1", "t=1")
	expect.OK(t, err)
	want := []Zone{{ID: "Z1", Name: "example.com.", Owner: Owner{Account: "111122223333"}}, {ID: "Z2", Name: "sts.eu-west-1.amazonaws.com.", Owner: Owner{Service: "vpce.amazonaws.com"}}}
	if diff := cmp.Diff(want, got); diff != "" || next != "t=2" {
		t.Errorf("next %q, zones (-want +got):\n%s", next, diff)
	}
	expect.Same(t, "requests", *requests, []string{"GET /2013-04-01/hostedzonesbyvpc?maxitems=100&nexttoken=t%3D1&vpcid=vpc-1&vpcregion=eu-west-1"})
}

func TestRecords(t *testing.T) {
	c, requests := client(t, 200, `<ListResourceRecordSetsResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ResourceRecordSets>
<ResourceRecordSet><Name>\052.example.com.</Name><Type>A</Type><TTL>60</TTL><ResourceRecords><ResourceRecord><Value>10.0.0.1</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>
</ResourceRecordSets><IsTruncated>true</IsTruncated><NextRecordName>b.example.com.</NextRecordName><NextRecordType>AAAA</NextRecordType><NextRecordIdentifier>x y</NextRecordIdentifier><MaxItems>1</MaxItems></ListResourceRecordSetsResponse>`,
		`<ListResourceRecordSetsResponse><ResourceRecordSets><ResourceRecordSet><Name>b.example.com.</Name><Type>AAAA</Type></ResourceRecordSet></ResourceRecordSets><IsTruncated>false</IsTruncated></ListResourceRecordSetsResponse>`)
	first, next, err := c.Records(t.Context(), "Z1", "")
	expect.OK(t, err)
	second, end, err := c.Records(t.Context(), "Z1", next)
	if err != nil || end != "" {
		t.Fatal(end, err)
	}
	expect.Same(t, "records", append(first, second...), []Record{{`\052.example.com.`, "A"}, {"b.example.com.", "AAAA"}})
	want := []string{"GET /2013-04-01/hostedzone/Z1/rrset?maxitems=300", "GET /2013-04-01/hostedzone/Z1/rrset?identifier=x%20y&maxitems=300&name=b.example.com.&type=AAAA"}
	expect.Same(t, "requests", *requests, want)
}

func TestRefused(t *testing.T) {
	c, _ := client(t, 403, `<ErrorResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not allowed</Message></Error><RequestId>1</RequestId></ErrorResponse>`)
	_, _, err := c.Zones(t.Context(), "vpc-1", "")
	var op *smithy.OperationError
	var api smithy.APIError
	if !errors.As(err, &op) || op.Operation() != "ListHostedZonesByVPC" || op.Service() != "Route 53" || !errors.As(err, &api) || api.ErrorCode() != "AccessDenied" || api.ErrorMessage() != "not allowed" {
		t.Errorf("got %v", err)
	}
}

func TestPlace(t *testing.T) {
	for _, tt := range []struct{ region, address, signed string }{
		{"us-west-2", "https://route53.amazonaws.com/", "us-east-1"},
		{"cn-north-1", "https://route53.amazonaws.com.cn/", "cn-northwest-1"},
		{"us-gov-east-1", "https://route53.us-gov.amazonaws.com/", "us-gov-west-1"},
	} {
		if address, signed := Place(aws.Config{Region: tt.region}); address != tt.address || signed != tt.signed {
			t.Errorf("%s: got %s, %s", tt.region, address, signed)
		}
	}
}
