// Package route53 is the wire form of the calls by which names in a VPC are judged, as plain
// data with the members of botocore's models: Route 53 (2013-04-01, REST and XML), its Resolver
// (JSON 1.1, target Route53Resolver) and its Profiles (2018-05-10, REST and JSON). The services'
// own Go packages are not among the dependencies.
package route53

import (
	"encoding/xml"
	"reflect"
	"strings"
)

// namespace is that of the answers.
const namespace = "https://route53.amazonaws.com/doc/2013-04-01/"

// Input requests a page of a list. A member that a call does not have is not sent.
type Input struct {
	VPCId, VPCRegion, HostedZoneId                          *string
	StartRecordName, StartRecordType, StartRecordIdentifier *string
	MaxItems, NextToken                                     *string
}

// Member is the name of the member that a parameter of the query is.
func (*Input) Member(parameter string) string {
	switch parameter {
	case "vpcid":
		return "VPCId"
	case "vpcregion":
		return "VPCRegion"
	case "maxitems":
		return "MaxItems"
	case "nexttoken":
		return "NextToken"
	case "name", "type", "identifier":
		return "StartRecord" + strings.ToUpper(parameter[:1]) + parameter[1:]
	}
	return parameter
}

// List is a list, which stands in an element of its own also where it is empty.
type List[T any] []T

// MarshalXML writes each item as an element with the name of its type.
func (l List[T]) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	if err := e.EncodeToken(start); err != nil {
		return err
	}
	for _, item := range l {
		if err := e.EncodeElement(item, xml.StartElement{Name: xml.Name{Local: reflect.TypeFor[T]().Name()}}); err != nil {
			return err
		}
	}
	return e.EncodeToken(start.End())
}

// UnmarshalXML reads what MarshalXML writes.
func (l *List[T]) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	*l = List[T]{}
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			var item T
			if err := d.DecodeElement(&item, &t); err != nil {
				return err
			}
			*l = append(*l, item)
		case xml.EndElement:
			return nil
		}
	}
}

// HostedZoneSummary is what list-hosted-zones-by-vpc prints of a zone.
type HostedZoneSummary struct {
	HostedZoneId, Name string
	Owner              HostedZoneOwner
}

// HostedZoneOwner is an account, or a service of AWS.
type HostedZoneOwner struct {
	OwningAccount string `json:",omitempty" xml:",omitempty"`
	OwningService string `json:",omitempty" xml:",omitempty"`
}

// ResourceRecordSet is what list-resource-record-sets prints of one.
type ResourceRecordSet struct {
	Name, Type      string
	SetIdentifier   string               `json:",omitempty" xml:",omitempty"`
	Weight          *int                 `json:",omitempty" xml:",omitempty"`
	TTL             *int                 `json:",omitempty" xml:",omitempty"`
	ResourceRecords List[ResourceRecord] `json:",omitempty" xml:",omitempty"`
	AliasTarget     *AliasTarget         `json:",omitempty" xml:",omitempty"`
}

// ResourceRecord is a value.
type ResourceRecord struct{ Value string }

// AliasTarget is what an alias record stands for.
type AliasTarget struct {
	HostedZoneId, DNSName string
	EvaluateTargetHealth  bool
}

// The outputs.
type (
	// ListHostedZonesByVPCOutput is a page of private hosted zones.
	ListHostedZonesByVPCOutput struct {
		HostedZoneSummaries List[HostedZoneSummary]
		MaxItems            string
		NextToken           string `json:"-" xml:",omitempty"`
	}
	// ListResourceRecordSetsOutput is a page of records.
	ListResourceRecordSetsOutput struct {
		ResourceRecordSets List[ResourceRecordSet]
		IsTruncated        bool   `json:"-"`
		MaxItems           string `json:"-"` // the AWS CLI prints the lists that it joins alone
		// Where the next page begins.
		NextRecordName, NextRecordType, NextRecordIdentifier string `json:"-" xml:",omitempty"`
	}
)

// Written is an output as the service writes it.
func Written(operation string, out any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(xml.Header)
	name := xml.StartElement{Name: xml.Name{Local: operation + "Response"}, Attr: []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: namespace}}}
	if err := xml.NewEncoder(&b).EncodeElement(out, name); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}
