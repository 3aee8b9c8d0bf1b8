from accelscope.launch import main

main()
