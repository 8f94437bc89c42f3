package take

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"rollcall/local/simaws/route53"
	"rollcall/shared/capture/filename"
	client "rollcall/shared/route53"
)

// recordPages bounds the records of a zone: a page has 300.
const recordPages = 10

// zones takes the private hosted zones of VPCs, and the records of those that cover names of
// AWS and are an account's.
func (t *taker) zones(ctx context.Context, vpcs []string) {
	api := client.New(t.asked.Config)
	found := make([][]string, len(vpcs))
	list(t, vpcs, func(i int, vpc string) {
		file := filename.Of("route53-list-hosted-zones-by-vpc", vpc)
		t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			all := route53.ListHostedZonesByVPCOutput{HostedZoneSummaries: []route53.HostedZoneSummary{}}
			query := url.Values{"vpcid": {vpc}, "vpcregion": {t.asked.Config.Region}, "maxitems": {"100"}}
			err := t.xmlPages(ctx, func() (more bool, err error) {
				var page route53.ListHostedZonesByVPCOutput
				err = api.Get(ctx, "ListHostedZonesByVPC", "hostedzonesbyvpc", query, client.Ask{}, &page)
				all.HostedZoneSummaries, all.MaxItems = append(all.HostedZoneSummaries, page.HostedZoneSummaries...), page.MaxItems
				query.Set("nexttoken", page.NextToken)
				return page.NextToken != "", err
			})
			for _, z := range all.HostedZoneSummaries {
				if z.Owner.OwningService == "" && coversAWS(z.Name) {
					found[i] = append(found[i], z.HostedZoneId)
				}
			}
			return treeOf(all, err)
		})
	})
	t.records(ctx, sorted(slices.Concat(found...)))
}

// records takes the records of zones.
func (t *taker) records(ctx context.Context, ids []string) {
	api := client.New(t.asked.Config)
	list(t, ids, func(_ int, id string) {
		t.take(ctx, filename.Of("route53-list-resource-record-sets", id), func(ctx context.Context) (map[string]any, error) {
			all := route53.ListResourceRecordSetsOutput{ResourceRecordSets: []route53.ResourceRecordSet{}}
			query := url.Values{"maxitems": {"300"}}
			err := t.xmlPages(ctx, func() (more bool, err error) {
				var page route53.ListResourceRecordSetsOutput
				err = api.Get(ctx, "ListResourceRecordSets", "hostedzone/"+url.PathEscape(id)+"/rrset", query, client.Ask{}, &page)
				all.ResourceRecordSets, all.MaxItems = append(all.ResourceRecordSets, page.ResourceRecordSets...), page.MaxItems
				query.Set("name", page.NextRecordName)
				query.Set("type", page.NextRecordType)
				if page.NextRecordIdentifier != "" {
					query.Set("identifier", page.NextRecordIdentifier)
				}
				return page.IsTruncated, err
			})
			return treeOf(all, err)
		})
	})
}

// xmlPages makes calls for pages; too many are none.
func (t *taker) xmlPages(ctx context.Context, call func() (more bool, err error)) error {
	for range recordPages {
		leave, err := t.limits.enter(ctx, "route53", "")
		if err != nil {
			return err
		}
		more, err := call()
		leave()
		t.count(func() { t.state.Calls++ })
		if err != nil || !more {
			return err
		}
	}
	return errHalf
}

// treeOf is an output as the AWS CLI prints it, of the members that Rollcall knows.
func treeOf(out any, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	return tree, json.Unmarshal(raw, &tree)
}

// coversAWS reports whether a zone is above or below a domain in which AWS has its endpoints.
func coversAWS(zone string) bool {
	zone = "." + strings.TrimSuffix(strings.ToLower(zone), ".")
	return slices.ContainsFunc([]string{".amazonaws.com", ".amazonaws.com.cn", ".amazonwebservices.com.cn", ".api.aws"}, func(d string) bool {
		return zone == "." || strings.HasSuffix(zone, d) || strings.HasSuffix(d, zone)
	})
}
