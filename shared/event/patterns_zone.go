package event

const (
	// ZoneCheckWanted is a wish to look at a cause of zone/ now.
	ZoneCheckWanted = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Check Wanted"],
  "detail": {"check": [{"prefix": "zone/"}]}
}`
	// StatusChangePattern is what nodegroup-watch tells of nodegroups: EKS itself
	// sends no such event.
	StatusChangePattern = `{
  "source": ["rollcall"],
  "detail-type": ["EKS Nodegroup Status Change"]
}`
)
