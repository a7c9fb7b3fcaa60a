module github.com/syrch/syrch-host/sdk/go

go 1.27
