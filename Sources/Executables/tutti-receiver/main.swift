print("tutti-receiver")
