module {{name_snake}}

go 1.27

require github.com/syrch/syrch-host/sdk/go v0.0.0

replace github.com/syrch/syrch-host/sdk/go => ./sdk
