package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/lambda"
)

// newDashboard makes the stack's dashboard. What differs from nodegroup to nodegroup and
// subnet to subnet is read from the functions' logs when somebody looks ($0.005 for each
// GB): as metrics it would cost $0.30 a month for each of them. The metrics are those that
// there are anyway, fewer than the 50 up to which an account's first three dashboards are
// free (CloudWatch pricing, "Free tier").
func newDashboard(stack awscdk.Stack, chosen settings.Settings, r resources, functions []function, a alarms) {
	// The watchers' sweeps are sweep's, which logs as they do.
	logs := func(names ...string) (list []*string) {
		for _, name := range names {
			list = append(list, jsii.String("/aws/lambda/"+chosen.Prefix()+"-"+name))
		}
		return list
	}
	board := awscloudwatch.NewDashboard(stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName:   jsii.String(chosen.StackName),
		DefaultInterval: awscdk.Duration_Hours(jsii.Number(24)),
		Widgets: &[]*[]awscloudwatch.IWidget{
			{
				query("Launches that ended, each hour", logs("join-check", "sweep"), awscloudwatch.LogQueryVisualizationType_STACKEDAREA, 12, endedByHour),
				query("Launches by nodegroup: joined, and how fast (seconds to Ready)", logs("join-check", "sweep"), awscloudwatch.LogQueryVisualizationType_TABLE, 12, endedByNodegroup),
			},
			{
				query("Incidents open", logs("report"), awscloudwatch.LogQueryVisualizationType_TABLE, 8, incidentsOpen),
				query("The subnets with the fewest free addresses", logs("subnet-watch", "sweep"), awscloudwatch.LogQueryVisualizationType_TABLE, 8, addressesLeft),
				// Clusters of spokes have their account and region beside their name.
				graph("Free addresses of each cluster's worst subnet", 8, search("cluster"), search("Account,Region,cluster")),
			},
			{
				awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
					Title: jsii.String("Rollcall's own alarms"), Width: jsii.Number(8), Height: jsii.Number(widgetHeight), Alarms: a.all(),
				}),
				graph("What waits in the queues (oldest, seconds)", 8, ages(r, functions)...),
				graph("What was put aside, and faults", 8, faults(chosen, r, functions)...),
			},
		},
	})
	// AWS's validator says that it takes tags (I9040), cfn-lint that it does not (E3002):
	// without them every CloudFormation takes it.
	board.Node().DefaultChild().(awscloudwatch.CfnDashboard).AddPropertyDeletionOverride(jsii.String("Tags"))
}

// widgetHeight is in the dashboard's rows.
const widgetHeight = 6

// The queries, in the language of CloudWatch Logs Insights (CloudWatch Logs user guide,
// "stats": latest is the value with the latest timestamp; strcontains is 1 or 0). The lines that they read, and
// their fields, are written by the functions (TestDashboardReadsWhatIsLogged in local/stage).
const (
	endedByHour      = `filter msg = "launch ended" | stats sum(strcontains(status, "joined")) as joined, sum(strcontains(status, "gone")) as ended_before, sum(strcontains(status, "given up")) as given_up by bin(1h)`
	endedByNodegroup = `filter msg = "launch ended" | stats count_distinct(instance) as launches, sum(strcontains(status, "joined")) as joined, pct(seconds, 50) as p50, pct(seconds, 95) as p95 by account, region, cluster, nodegroup | sort launches desc | limit 20`
	incidentsOpen    = `filter msg = "incidents open" | stats latest(open) as now_open, latest(critical) as now_critical by account, region, cluster | sort now_critical desc, now_open desc | limit 20`
	addressesLeft    = `filter msg = "addresses left" | stats latest(free) as free_now, min(free) as fewest, latest(zone) as in_zone by account, region, cluster, subnet | sort free_now asc | limit 20`
)

func query(title string, groups []*string, view awscloudwatch.LogQueryVisualizationType, width int, text string) awscloudwatch.IWidget {
	return awscloudwatch.NewLogQueryWidget(&awscloudwatch.LogQueryWidgetProps{
		Title: jsii.String(title), LogGroupNames: &groups, View: view, QueryString: jsii.String(text), Width: jsii.Number(width), Height: jsii.Number(widgetHeight),
	})
}

func graph(title string, width int, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: jsii.String(title), Left: &metrics, Width: jsii.Number(width), Height: jsii.Number(widgetHeight)})
}

// search finds the curves of all clusters that are told with these dimensions, and no others
// (CloudWatch, "Search expression syntax").
func search(dimensions string) awscloudwatch.IMetric {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String(fmt.Sprintf(`SEARCH('{%s,%s} MetricName="FreeAddresses"', 'Minimum', 300)`, lambda.Namespace, dimensions)),
		Label:      jsii.String(""), UsingMetrics: &map[string]awscloudwatch.IMetric{},
	})
}

// ages are how long the oldest message of each queue has waited.
func ages(r resources, functions []function) (list []awscloudwatch.IMetric) {
	for _, f := range functions {
		if f.queue != nil {
			list = append(list, f.queue.main.MetricApproximateAgeOfOldestMessage(&awscloudwatch.MetricOptions{
				Statistic: jsii.String("Maximum"), Label: jsii.String(string(f.queue.spec.Resource)), Period: minutes(5),
			}))
		}
	}
	return list
}

// faults are what was put aside, and the counts on which alarms ring.
func faults(chosen settings.Settings, r resources, functions []function) []awscloudwatch.IMetric {
	options := func(label string) *awscloudwatch.MetricOptions {
		return &awscloudwatch.MetricOptions{Statistic: jsii.String("Maximum"), Label: jsii.String(label), Period: minutes(5)}
	}
	list := []awscloudwatch.IMetric{r.failed.MetricApproximateNumberOfMessagesVisible(options("put aside: events"))}
	for _, f := range functions {
		if f.queue != nil {
			list = append(list, f.queue.dead.MetricApproximateNumberOfMessagesVisible(options("put aside: "+string(f.queue.spec.Resource))))
		}
	}
	names := []string{lambda.Failures}
	for _, f := range functions {
		for _, own := range f.spec.Alarms {
			names = append(names, own.Metric)
		}
	}
	for _, name := range names {
		list = append(list, awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(lambda.StackNamespace(chosen.Prefix())), MetricName: jsii.String(name), Statistic: jsii.String("Sum"), Period: minutes(5),
		}))
	}
	return list
}

func minutes(n float64) awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(n)) }

// all are the alarms, for a widget.
func (a alarms) all() *[]interfacesawscloudwatch.IAlarmRef {
	var list []interfacesawscloudwatch.IAlarmRef
	for _, made := range *a.made {
		list = append(list, made)
	}
	return &list
}
