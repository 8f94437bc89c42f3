package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// authNone lets everybody call: who it is, the function knows by the signature.
const authNone = "NONE"

// open gives the function an address on the internet. Both permissions are
// needed since October 2025, the second one for calls through the address only
// (Lambda, "Control access to Lambda function URLs").
func (f function) open() *string {
	url := awslambda.NewCfnUrl(f.scope, jsii.String("Url"), &awslambda.CfnUrlProps{
		TargetFunctionArn: f.lambda.FunctionArn(),
		AuthType:          jsii.String(authNone),
		InvokeMode:        jsii.String("BUFFERED"),
	})
	awslambda.NewCfnPermission(f.scope, jsii.String("UrlPermission"), &awslambda.CfnPermissionProps{
		Action:              jsii.String("lambda:InvokeFunctionUrl"),
		FunctionName:        f.lambda.FunctionArn(),
		Principal:           "*",
		FunctionUrlAuthType: jsii.String(authNone),
	})
	awslambda.NewCfnPermission(f.scope, jsii.String("UrlInvokePermission"), &awslambda.CfnPermissionProps{
		Action:                jsii.String("lambda:InvokeFunction"),
		FunctionName:          f.lambda.FunctionArn(),
		Principal:             "*",
		InvokedViaFunctionUrl: jsii.Bool(true),
	})
	return url.AttrFunctionUrl()
}
