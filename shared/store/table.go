// Package store keeps what Rollcall must remember between invocations, in one
// DynamoDB table.
//
// Keys. Each record has a partition key "pk", which begins with its kind (IAM
// conditions rest on that), a sort key "sk", a "version" that every write
// checks, "expires" (seconds since 1970, DynamoDB's time to live), the "format"
// of the record, and the record itself as JSON in "body". A record whose
// format is newer than the code's is left alone. What has expired counts as
// absent, whether DynamoDB has deleted it or not.
//
// What is of a spoke other than the hub's own has its account and region before its
// name, so that two clusters of one name share nothing: incident#222233334444/eu-west-1/prod,
// launch#222233334444/eu-west-1/i-0ab, and so on, also in the indexes; the partitions
// cluster#, silence# and swept# are one for each spoke. What is the hub's own has none, as in the releases
// before there were spokes: a table never changes its account, so that old records are
// the hub's, and an older release still finds them. Presses, refusals and paces are
// of no spoke's cluster, or name account and region anyway.
//
//	kind      pk                   sk                  read by
//	launch    launch#<instance>    launch              GetLaunches: batch get by instance id, or by the id of
//	          launch#<activity>                        the scaling activity of a refused launch without one
//	                                                   OpenLaunches: index "open", key open = <cluster>,
//	                                                   sorted by launch time; the attribute is there only
//	                                                   while the outcome is unknown, so the index stays small.
//	                                                   It projects all attributes.
//	                                                   History: index "ended", key day = <cluster>#<UTC day of
//	                                                   the launch>, sorted by "began"; the attributes are there
//	                                                   once the outcome is known. One query for each day, of
//	                                                   about 450 bytes a launch ("past" and the keys), the
//	                                                   newest day first, until MaxHistory; and OpenLaunches.
//	jointime  jointime#<cluster>   <nodegroup>         JoinTimes: query by pk, once for each cluster and batch
//	sample    sample#<subnet>      <minute>            Samples: query by pk, from a minute on; 8 days are kept
//	          sample#<subnet>      <hour>              Samples: query by pk, from an hour until the oldest whole
//	          #hours                                   hour of samples; CatchUp: the last one. 90 days are kept
//	incident  incident#<cluster>   <check>#<resource>  Incidents: query by pk
//	nodegroup nodegroup#<cluster>  <nodegroup>         Nodegroups: query by pk
//	summary   summary#<cluster>    <id>                Postings: query by pk
//	sighting  sighting#<VPC>       <interface>         Sightings: query by pk, once for each VPC and run. What is
//	                                                   written ahead of a delete is in it.
//	audit     audit#<cluster>      <time>#<interface>  Audits, Returned: query by pk, from a time on. Never
//	                                                   written over, kept for a year.
//	act       act#<cluster>        <time>#<press>      Acts: query by pk, from a time on. Never written over,
//	                                                   kept for a year.
//	cleanup   cleanup#<cluster>    <day>               CleanupsTold: query by pk
//	pace      pace#<account>       pace                Pace: query by pk
//	          #<region>
//	cluster   cluster#             <cluster>           ClusterRecord: query by pk and sk, once for each cluster
//	                                                   and batch; ClusterRecords: query by pk, every five minutes;
//	                                                   Clusters: query by pk, at the command line. Kept for 30 days
//	                                                   after the last incident was closed
//	target    target#<target>      <account>/<region>/ Told: query by pk and sk, once for each delivery. Written by
//	                               <incident>          notify-targets alone, kept for 180 days after the last write
//	backoff   backoff#<cluster>    kubernetes          Backoff: query by pk, once for each sweep of the cluster. Kept for
//	                                                   a day after the last write
//	press     press#<request>      press               PassedPress: query by pk, once for each press that arrives.
//	                                                   Written by slack-actions alone, kept for 19 days
//	refusal   refusal#             <minute>#<reason>   Refusals: query by pk, from a time on. Never written
//	          slack-actions        <time>#<request>    over, kept for a year
//	silence   silence#             <cluster>#<id>      Silences: query by pk and between two sk, once for each
//	                                                   cluster and batch; AllSilences: query by pk. Kept for 30 days
//	                                                   after its end
//	swept     swept#               <cluster>           Sweep: query by pk and sk, once in a cluster's turn, which writes it;
//	                                                   Sweeps: query by pk. Kept for 22 days after the last turn
//	refused   refused#<cluster>    <launcher>#<class>  RefusedLaunches: query by pk, once for each batch with such a
//	                                                   launch, and for each sweep. Kept for six hours
package store

const (
	launchPrefix   = "launch#"
	joinTimePrefix = "jointime#"
	samplePrefix   = "sample#"
	// OpenIndex is the sparse index over launches without an outcome: its
	// partition key is "open" (the cluster), its sort key "started".
	OpenIndex = "open"
	// EndedIndex is the sparse index over launches with an outcome: its
	// partition key is "day" (the cluster and the UTC day of the launch), its
	// sort key "began". It projects "past", the launch in short, alone.
	EndedIndex = "ended"
)
